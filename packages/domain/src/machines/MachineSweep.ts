/**
 * Compares what the provider runs with what is recorded: no machine runs that no row knows.
 *
 * A listing is only ever evidence that a machine is there. That one is missing from it says nothing: listings may be empty,
 * partial or stale. Every launch is recorded before it is asked for, so a listed key without a row is nobody's.
 */
import { Context, Effect, Layer, Schedule } from "effect"
import { Replica } from "../database/Replica.ts"
import { MachineListStore } from "./MachineListStore.ts"
import { MachineProvider } from "./MachineProvider.ts"

/** One sweep in so many polls: a minute. */
const EVERY_POLLS = 60
const BATCH = 500
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export class MachineSweep extends Context.Service<
  MachineSweep,
  {
    /** One sweep; answers how many machines nobody knew and how many ended ones were released. */
    readonly sweep: Effect.Effect<{ readonly stopped: number; readonly released: number }>
    readonly run: Effect.Effect<void>
  }
>()("@sluice/domain/machines/MachineSweep") {
  static readonly layer = Layer.effect(
    MachineSweep,
    Effect.gen(function* () {
      const provider = yield* MachineProvider
      const store = yield* MachineListStore
      const replica = yield* Replica

      const batch = Effect.fnUntraced(function* (keys: ReadonlyArray<string>) {
        const known = yield* store.known(keys)
        const orphans = keys.filter((key) => !known.has(key))
        const ended = keys.filter((key) => known.get(key)?.gone === true)
        for (const key of orphans) {
          yield* Effect.logWarning(`machine ${key} runs and no row knows it: stopping it`)
          yield* Effect.ignore(Effect.andThen(provider.stop(key), provider.release(key)))
        }
        yield* Effect.forEach(ended, (key) => Effect.ignore(provider.release(key)), { discard: true })
        return { stopped: orphans.length, released: ended.length }
      })

      const sweep = Effect.gen(function* () {
        const listed = yield* Effect.orElseSucceed(provider.list, () => [])
        const keys = listed.map((machine) => machine.key).filter((key) => UUID.test(key))
        let stopped = 0
        let released = 0
        for (let i = 0; i < keys.length; i += BATCH) {
          const done = yield* batch(keys.slice(i, i + BATCH))
          stopped += done.stopped
          released += done.released
        }
        return { stopped, released }
      })

      const run = sweep.pipe(
        Effect.ignoreCause,
        Effect.repeat(Schedule.spaced(EVERY_POLLS * replica.pollMs)),
        Effect.asVoid
      )
      return MachineSweep.of({ sweep, run })
    })
  )
}
