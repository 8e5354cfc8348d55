/**
 * Compares the provider's machines with the rows, and stops every machine that has no row or whose row says that it is
 * gone.
 *
 * A listing only proves that a machine exists. A missing machine proves nothing, because listings may be empty, partial
 * or stale. Every launch is recorded before it is requested, so a listed key without a row belongs to no workspace.
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
    /** Runs one sweep; returns the number of machines that it asked to stop, and of ended machines that it released. */
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

      const stopUnwanted = (key: string, why: string) =>
        Effect.andThen(Effect.logWarning(`machine ${key} runs ${why}: stopping it`), Effect.ignore(provider.stop(key)))

      const sweepBatch = Effect.fnUntraced(function* (machines: ReadonlyArray<Listed>) {
        const known = yield* store.known(machines.map(({ key }) => key))
        // Machines without a row, or whose row says that they are gone.
        const unwanted = machines.filter(({ key }) => known.get(key)?.gone !== false)
        const running = unwanted.filter(({ state }) => isBilled(state))
        // The provider may have reverted a stop, or never executed it: the row is right, and the machine must go.
        for (const { key } of running)
          yield* stopUnwanted(key, known.has(key) ? "although it was confirmed gone" : "but has no row")
        // A machine that was just asked to stop may have to be asked again, so it is released only after a later
        // listing shows its end.
        const ended = unwanted.filter(({ state }) => !isBilled(state))
        for (const { key } of ended) yield* Effect.ignore(provider.release(key))
        return { stopped: running.length, released: ended.length }
      })

      const sweep = Effect.gen(function* () {
        yield* outputs.dropStale
        const listed = yield* Effect.orElseSucceed(provider.list, () => [])
        const machines = listed.filter(({ key }) => UUID.test(key))
        let stopped = 0
        let released = 0
        for (let i = 0; i < machines.length; i += BATCH) {
          const swept = yield* sweepBatch(machines.slice(i, i + BATCH))
          stopped += swept.stopped
          released += swept.released
        }
        return { stopped, released }
      })

      const run = Sweep.every("machines", Sweep.EVERY_MS * scale, sweep)
      return MachineSweep.of({ sweep, run })
    })
  )
}

type Listed = Effect.Success<MachineProvider["Service"]["list"]>[number]

/** Returns whether a machine in this state is billed by its provider. */
const isBilled = ({ _tag }: MachineState): boolean => _tag === "Launching" || _tag === "Running"
