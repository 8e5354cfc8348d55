/** A short-lived cache of the provider's offer, so that a submission is checked without a call to the provider. */
import { Clock, Effect } from "effect"
import { Signals } from "../database/Signals.ts"
import { MachineProvider } from "../machines/MachineProvider.ts"
import { templates } from "../machines/Template.ts"
import { MachinesUnavailable } from "./JobErrors.ts"
import type { Offer } from "./JobRules.ts"

/** Maximum age of a cached offer (ms). A higher value shows capacity that is gone already. */
const MAX_AGE_MS = 1_000
/** Maximum age after a machine ended (ms), because its capacity may be free. */
const MAX_AGE_AFTER_END_MS = 100

export interface CurrentOffer {
  readonly offer: Offer
  /** False: the provider does not answer, and the offer is an older one. */
  readonly available: boolean
  /** Returns whether `gpuCount` GPUs of a type were free at the last answer. */
  readonly hasCapacity: (gpuType: string, gpuCount: number) => boolean
}

export const makeOffers = Effect.gen(function* () {
  const provider = yield* MachineProvider
  const clock = yield* Clock.Clock
  let cached: (Omit<CurrentOffer, "available"> & { readonly fetchedAt: number }) | undefined

  const signals = yield* Signals
  yield* signals.listen("capacity", () => {
    if (cached === undefined) return
    const soon = clock.currentTimeMillisUnsafe() - MAX_AGE_MS + MAX_AGE_AFTER_END_MS
    cached = { ...cached, fetchedAt: Math.min(cached.fetchedAt, soon) }
  })

  const fetch = Effect.map(provider.gpuTypes, (gpuTypes): CurrentOffer => {
    const free = new Map(gpuTypes.map((type) => [type.id, type.available]))
    cached = {
      offer: { gpuTypes, templates, priceOf: provider.priceOf },
      hasCapacity: (gpuType, gpuCount) => (free.get(gpuType) ?? 0) >= gpuCount,
      fetchedAt: clock.currentTimeMillisUnsafe()
    }
    return { ...cached, available: true }
  })

  /** Returns the offer. Fails only if the provider never answered. */
  const current: Effect.Effect<CurrentOffer, MachinesUnavailable> = Effect.suspend(() => {
    if (cached !== undefined && clock.currentTimeMillisUnsafe() - cached.fetchedAt < MAX_AGE_MS) {
      return Effect.succeed({ ...cached, available: true })
    }
    return Effect.catchTag(fetch, "ProviderUnavailable", () =>
      cached === undefined ? Effect.fail(new MachinesUnavailable()) : Effect.succeed({ ...cached, available: false })
    )
  })
  return { current }
})
