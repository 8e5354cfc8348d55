/**
 * A machine provider whose calls all have a timeout. A call that timed out may have acted, like a call whose answer was
 * lost, and is retried. Without a timeout a hanging call would block its machine, and one of the slots that all
 * machines share, forever.
 */
import { Effect, Layer, Stream } from "effect"
import { Replica } from "../database/Replica.ts"
import { MachineProvider, type MachineProviderService, ProviderUnavailable } from "./MachineProvider.ts"

/** The timeout of a call (ms), longer than any working provider takes. */
export const CALL_TIMEOUT_MS = 30_000

export const withTimeouts = (inner: MachineProviderService, withinMs: number): MachineProviderService => {
  const failLate = Effect.fail(new ProviderUnavailable({ cause: `no answer within ${withinMs} ms` }))
  const withTimeout = <A, E>(call: Effect.Effect<A, E>) =>
    Effect.timeoutOrElse(call, { duration: withinMs, orElse: () => failLate })
  return {
    ...inner,
    gpuTypes: withTimeout(inner.gpuTypes),
    launch: (spec) => withTimeout(inner.launch(spec)),
    observe: (key) => withTimeout(inner.observe(key)),
    read: (key, from, maxBytes) => withTimeout(inner.read(key, from, maxBytes)),
    // A silent stream may be broken without an error, so it fails after the timeout, and its reader reopens it.
    follow: (key, from) =>
      Stream.timeoutOrElse(inner.follow(key, from), { duration: withinMs, orElse: () => Stream.fromEffect(failLate) }),
    stop: (key) => withTimeout(inner.stop(key)),
    list: withTimeout(inner.list),
    release: (key) => withTimeout(inner.release(key)),
    deleteVolume: (volumeId) => withTimeout(inner.deleteVolume(volumeId))
  }
}

/** Replaces the provider with the same provider, with timeouts. */
export const layer = Layer.effect(
  MachineProvider,
  Effect.gen(function* () {
    const { scale } = yield* Replica
    return withTimeouts(yield* MachineProvider, CALL_TIMEOUT_MS * scale)
  })
)
