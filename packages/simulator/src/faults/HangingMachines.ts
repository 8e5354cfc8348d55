/**
 * Calls that never answer, with or without their effect. Of the calls of one machine or volume at most one hangs, so
 * that a retry succeeds.
 */
import type { MachineProviderService } from "@sluice/domain/machines/MachineProvider"
import { Effect, Stream } from "effect"
import type { FaultDraw } from "./FaultDraw.ts"

export const hangingMachines = (inner: MachineProviderService, faultDraw: FaultDraw): MachineProviderService => {
  const hangSometimes = <A, E>(key: string, call: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.suspend(() => {
      if (!faultDraw.applies("machine_hangs", key, 1)) return call
      return faultDraw.draw("hang-acts", key) < 0.5 ? Effect.andThen(call, Effect.never) : Effect.never
    })
  return {
    ...inner,
    launch: (spec) => hangSometimes(spec.key, inner.launch(spec)),
    observe: (key) => hangSometimes(key, inner.observe(key)),
    stop: (key) => hangSometimes(key, inner.stop(key)),
    read: (key, from, maxBytes) => hangSometimes(key, inner.read(key, from, maxBytes)),
    follow: (key, from) => Stream.unwrap(hangSometimes(key, Effect.succeed(inner.follow(key, from)))),
    release: (key) => hangSometimes(key, inner.release(key)),
    deleteVolume: (volumeId) => hangSometimes(volumeId, inner.deleteVolume(volumeId))
  }
}
