/** What the provider offers, remembered for a moment: a submission is checked without asking the provider each time. */
import { Clock, Effect } from "effect"
import { Signals } from "../database/Signals.ts"
import { MachineProvider } from "../machines/MachineProvider.ts"
import { templates } from "../machines/Template.ts"
import { MachinesUnavailable } from "./JobErrors.ts"
import type { Offer } from "./JobRules.ts"

/** How old an offer may be; what is free changes with each machine. */
const FRESH_MS = 1_000
/** The same once a machine has ended since: what it held may be free. */
const FRESH_AFTER_END_MS = 100

export interface CurrentOffer {
  readonly offer: Offer
  /** False: the provider does not answer at present, the offer is an older one. */
  readonly available: boolean
  /** Whether so many GPUs of a type were free when it was last asked. */
  readonly hasRoom: (gpuType: string, gpuCount: number) => boolean
}

export const makeOffers = Effect.gen(function* () {
  const provider = yield* MachineProvider
  const clock = yield* Clock.Clock
  let known: (Omit<CurrentOffer, "available"> & { readonly at: number }) | undefined

  const signals = yield* Signals
  yield* signals.listen("capacity", () => {
    if (known === undefined) return
    const soon = clock.currentTimeMillisUnsafe() - FRESH_MS + FRESH_AFTER_END_MS
    known = { ...known, at: Math.min(known.at, soon) }
  })

  const fetch = Effect.map(provider.gpuTypes, (gpuTypes): CurrentOffer => {
    const free = new Map(gpuTypes.map((type) => [type.id, type.available]))
    known = {
      offer: { gpuTypes, templates, priceOf: provider.priceOf },
      hasRoom: (gpuType, gpuCount) => (free.get(gpuType) ?? 0) >= gpuCount,
      at: clock.currentTimeMillisUnsafe()
    }
    return { ...known, available: true }
  })

  /** Fails only when nothing was ever known. */
  const current: Effect.Effect<CurrentOffer, MachinesUnavailable> = Effect.suspend(() => {
    if (known !== undefined && clock.currentTimeMillisUnsafe() - known.at < FRESH_MS) {
      return Effect.succeed({ ...known, available: true })
    }
    return Effect.catchTag(fetch, "ProviderUnavailable", () =>
      known === undefined ? Effect.fail(new MachinesUnavailable()) : Effect.succeed({ ...known, available: false })
    )
  })
  return { current }
})
