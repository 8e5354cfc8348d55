/**
 * Compares what the provider runs with what is recorded: no machine runs that no row knows, or that its row says is gone.
 *
 * A listing is only ever evidence that a machine is there. That one is missing from it says nothing: listings may be empty,
 * partial or stale. Every launch is recorded before it is asked for, so a listed key without a row is nobody's.
 */
import { Context, Effect, Layer, Schedule } from "effect"
import { Replica } from "../database/Replica.ts"
import { MachineListStore } from "./MachineListStore.ts"
import { MachineProvider, type MachineState } from "./MachineProvider.ts"

/** One sweep in so many polls: a minute. */
const EVERY_POLLS = 60
const BATCH = 500
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export class MachineSweep extends Context.Service<
  MachineSweep,
  {
    /** One sweep; answers how many machines ran that should not, and how many ended ones were released. */
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

      const end = (key: string, why: string) =>
        Effect.logWarning(`machine ${key} runs ${why}: stopping it`).pipe(
          Effect.andThen(Effect.ignore(Effect.andThen(provider.stop(key), provider.release(key))))
        )

      const batch = Effect.fnUntraced(function* (machines: ReadonlyArray<Listed>) {
        const known = yield* store.known(machines.map(({ key }) => key))
        const orphans = machines.filter(({ key }) => !known.has(key))
        const ended = machines.filter(({ key }) => known.get(key)?.gone === true)
        // A provider that took a stop back, or never did it: the row is right, the machine is not.
        const revenants = ended.filter(({ state }) => costs(state))
        for (const { key } of orphans) yield* end(key, "and no row knows it")
        for (const { key } of revenants) yield* end(key, "although it was confirmed gone")
        for (const { key, state } of ended) if (!costs(state)) yield* Effect.ignore(provider.release(key))
        return { stopped: orphans.length + revenants.length, released: ended.length - revenants.length }
      })

      const sweep = Effect.gen(function* () {
        const listed = yield* Effect.orElseSucceed(provider.list, () => [])
        const machines = listed.filter(({ key }) => UUID.test(key))
        let stopped = 0
        let released = 0
        for (let i = 0; i < machines.length; i += BATCH) {
          const done = yield* batch(machines.slice(i, i + BATCH))
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

type Listed = Effect.Success<MachineProvider["Service"]["list"]>[number]

/** Whether somebody pays for a machine in this state. */
const costs = ({ _tag }: MachineState): boolean => _tag === "Launching" || _tag === "Running"
