/** Calls that never answer, having acted or not; of those of a machine or a volume one hangs at most, so that asking again helps. */
import type { MachineProviderService } from "@sluice/domain/machines/MachineProvider"
import { Effect, Stream } from "effect"
import type { FaultDraw } from "./FaultDraw.ts"

export const hangingMachines = (inner: MachineProviderService, strikes: FaultDraw): MachineProviderService => {
  const perhaps = <A, E>(key: string, call: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.suspend(() => {
      if (!strikes.strikes("machine_hangs", key, 1)) return call
      return strikes.draw("hang-acts", key) < 0.5 ? Effect.andThen(call, Effect.never) : Effect.never
    })
  return {
    ...inner,
    launch: (spec) => perhaps(spec.key, inner.launch(spec)),
    observe: (key) => perhaps(key, inner.observe(key)),
    stop: (key) => perhaps(key, inner.stop(key)),
    read: (key, from, maxBytes) => perhaps(key, inner.read(key, from, maxBytes)),
    follow: (key, from) => Stream.unwrap(perhaps(key, Effect.succeed(inner.follow(key, from)))),
    release: (key) => perhaps(key, inner.release(key)),
    deleteVolume: (volumeId) => perhaps(volumeId, inner.deleteVolume(volumeId))
  }
}
