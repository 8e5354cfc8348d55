/**
 * Compares what the provider runs with what is recorded: no machine runs that no row knows, or that its row says is gone.
 *
 * A listing is only ever evidence that a machine is there. That one is missing from it says nothing: listings may be empty,
 * partial or stale. Every launch is recorded before it is asked for, so a listed key without a row is nobody's.
 */
import { Context, Effect, Layer } from "effect"
import { Replica } from "../database/Replica.ts"
import * as Sweep from "../database/Sweep.ts"
import { MachineListStore } from "./MachineListStore.ts"
import { MachineProvider, type MachineState } from "./MachineProvider.ts"
import { OutputStore } from "./OutputStore.ts"

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
      const outputs = yield* OutputStore
      const { scale } = yield* Replica

      const end = (key: string, why: string) =>
        Effect.andThen(Effect.logWarning(`machine ${key} runs ${why}: stopping it`), Effect.ignore(provider.stop(key)))

      const batch = Effect.fnUntraced(function* (machines: ReadonlyArray<Listed>) {
        const known = yield* store.known(machines.map(({ key }) => key))
        // Nobody needs them: no row knows them, or their row says that they are gone.
        const unwanted = machines.filter(({ key }) => known.get(key)?.gone !== false)
        const running = unwanted.filter(({ state }) => costs(state))
        // A provider may have taken a stop back, or never done it: the row is right, the machine is not.
        for (const { key } of running)
          yield* end(key, known.has(key) ? "although it was confirmed gone" : "and no row knows it")
        // One that was just told to stop may have to be told again: what a later listing shows as ended is released.
        const over = unwanted.filter(({ state }) => !costs(state))
        for (const { key } of over) yield* Effect.ignore(provider.release(key))
        return { stopped: running.length, released: over.length }
      })

      const sweep = Effect.gen(function* () {
        yield* outputs.dropStale
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

      const run = Sweep.every("machines", Sweep.EVERY_MS * scale, sweep)
      return MachineSweep.of({ sweep, run })
    })
  )
}

type Listed = Effect.Success<MachineProvider["Service"]["list"]>[number]

/** Whether somebody pays for a machine in this state. */
const costs = ({ _tag }: MachineState): boolean => _tag === "Launching" || _tag === "Running"
