/** What the provider offers, remembered for a moment: a submission is checked without asking the provider each time. */
import { Clock, Effect } from "effect"
import { MachineProvider } from "../machines/MachineProvider.ts"
import { templates } from "../machines/Template.ts"
import { MachinesUnavailable } from "./JobErrors.ts"
import type { Offer } from "./JobRules.ts"

/** How old an offer may be; prices and types change with the provider's configuration alone. */
const FRESH_MS = 5_000

export interface CurrentOffer {
  readonly offer: Offer
  /** False: the provider does not answer at present, the offer is an older one. */
  readonly available: boolean
}

export const makeOffers = Effect.gen(function* () {
  const provider = yield* MachineProvider
  const clock = yield* Clock.Clock
  let known: { readonly offer: Offer; readonly at: number } | undefined

  const fetch = Effect.map(provider.gpuTypes, (gpuTypes): CurrentOffer => {
    known = { offer: { gpuTypes, templates, priceOf: provider.priceOf }, at: clock.currentTimeMillisUnsafe() }
    return { offer: known.offer, available: true }
  })

  /** Fails only when nothing was ever known. */
  const current: Effect.Effect<CurrentOffer, MachinesUnavailable> = Effect.suspend(() => {
    if (known !== undefined && clock.currentTimeMillisUnsafe() - known.at < FRESH_MS) {
      return Effect.succeed({ offer: known.offer, available: true })
    }
    return Effect.catchTag(fetch, "ProviderUnavailable", () =>
      known === undefined
        ? Effect.fail(new MachinesUnavailable())
        : Effect.succeed({ offer: known.offer, available: false })
    )
  })
  return { current }
})
