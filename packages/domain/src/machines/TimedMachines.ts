/**
 * A provider all of whose calls end: one that does not answer in time may have acted, as one whose answer was lost, and is
 * asked again. Without it a call that hangs would hold its machine, and a slot that all machines share, for ever.
 */
import { Effect, Layer, Stream } from "effect"
import { Replica } from "../database/Replica.ts"
import { MachineProvider, type MachineProviderService, ProviderUnavailable } from "./MachineProvider.ts"

/** The longest that a provider may take to answer. */
export const ANSWER_MS = 30_000

export const timed = (inner: MachineProviderService, withinMs: number): MachineProviderService => {
  const late = Effect.fail(new ProviderUnavailable({ cause: `no answer within ${withinMs} ms` }))
  const within = <A, E>(call: Effect.Effect<A, E>) =>
    Effect.timeoutOrElse(call, { duration: withinMs, orElse: () => late })
  return {
    ...inner,
    gpuTypes: within(inner.gpuTypes),
    launch: (spec) => within(inner.launch(spec)),
    observe: (key) => within(inner.observe(key)),
    read: (key, from, maxBytes) => within(inner.read(key, from, maxBytes)),
    // One that says nothing may have broken unheard: who follows begins again.
    follow: (key, from) =>
      Stream.timeoutOrElse(inner.follow(key, from), { duration: withinMs, orElse: () => Stream.fromEffect(late) }),
    stop: (key) => within(inner.stop(key)),
    list: within(inner.list),
    release: (key) => within(inner.release(key)),
    deleteVolume: (volumeId) => within(inner.deleteVolume(volumeId))
  }
}

/** Replaces the provider by itself with its bounds. */
export const layer = Layer.effect(
  MachineProvider,
  Effect.gen(function* () {
    const { scale } = yield* Replica
    return timed(yield* MachineProvider, ANSWER_MS * scale)
  })
)
