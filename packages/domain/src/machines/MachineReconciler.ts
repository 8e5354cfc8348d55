/**
 * Moves every machine to the state that its row asks for: launched, observed, and stopped when its command exits or a
 * stop is requested.
 *
 * The reconciler wakes by signal `machines`, at the time that the last step named, and by poll. A machine that ends
 * wakes machines that wait for capacity, the oldest first. A submission passes its new machine, already claimed, to
 * `start`, so that the provider's first answer arrives while the caller still waits.
 */
import { Context, Deferred, Effect, Latch, Layer } from "effect"
import type { Redacted } from "effect"
import * as Reconciler from "../database/Reconciler.ts"
import { Replica } from "../database/Replica.ts"
import { Signals } from "../database/Signals.ts"
import type { ClaimedMachine } from "./MachineRow.ts"
import { type LaunchAnswer, MachineSteps } from "./MachineSteps.ts"
import { MachineStore } from "./MachineStore.ts"

/** Maximum machines stepped at once. */
const SLOTS = 64
/** Machines that end within this time wake waiting machines together (ms), so that one statement serves them. */
const WAKE_PAUSE_MS = 50

export class MachineReconciler extends Context.Service<
  MachineReconciler,
  {
    readonly tick: Effect.Effect<number>
    readonly run: Effect.Effect<never>
    /**
     * Steps a machine that was just recorded under this replica's claim. Returns the provider's answer to its launch.
     */
    readonly start: (
      machine: ClaimedMachine,
      variables: ReadonlyMap<string, Redacted.Redacted<string>>
    ) => Effect.Effect<Deferred.Deferred<LaunchAnswer>>
  }
>()("@sluice/domain/machines/MachineReconciler") {
  static readonly layer = Layer.effect(
    MachineReconciler,
    Effect.gen(function* () {
      const store = yield* MachineStore
      const steps = yield* MachineSteps
      const signals = yield* Signals
      const { scale } = yield* Replica
      const run = Effect.runForkWith(yield* Effect.context<never>())
      const setAlarm = (wakeAt: number) => reconciler.alarm(wakeAt)
      const reconciler: Reconciler.Reconciler<ClaimedMachine> = yield* Reconciler.make<ClaimedMachine>({
        name: "machines",
        slots: SLOTS,
        claim: store.claim,
        renew: store.renew,
        step: (machine) => Effect.map(steps.run(machine), setAlarm)
      })
      yield* signals.listen("machines", reconciler.signal)

      let endedMachines = 0
      const capacityFreed = Latch.makeUnsafe(false)
      yield* signals.listen("capacity", () => {
        endedMachines++
        capacityFreed.openUnsafe()
      })
      /** Wakes twice as many waiting machines as have ended, because some of them may be smaller. */
      const wakeWaiting = Effect.suspend(() => {
        const ended = endedMachines
        endedMachines = 0
        capacityFreed.closeUnsafe()
        return ended === 0 ? Effect.succeed(0) : store.wakeWaiting(2 * ended)
      })
      const capacityLoop = Effect.forever(
        capacityFreed.await.pipe(
          Effect.andThen(wakeWaiting),
          Effect.tap((woken) => Effect.sync(() => (woken > 0 ? reconciler.signal() : undefined))),
          Effect.ignoreCause,
          Effect.andThen(Effect.sleep(WAKE_PAUSE_MS * scale))
        )
      )

      return MachineReconciler.of({
        tick: Effect.gen(function* () {
          let steps = yield* reconciler.tick
          while ((yield* wakeWaiting) > 0) steps += yield* reconciler.tick
          return steps
        }),
        run: Effect.raceFirst(reconciler.run, capacityLoop),
        start: (machine, variables) =>
          Effect.sync(() => {
            const answer = Deferred.makeUnsafe<LaunchAnswer>()
            const onLaunch = (launchAnswer: LaunchAnswer) => Deferred.doneUnsafe(answer, Effect.succeed(launchAnswer))
            const step = Effect.map(steps.run(machine, { variables, onLaunch }), setAlarm)
            // If the step is interrupted or fails, the loop takes the row over when its lease has ended.
            run(
              Effect.ensuring(
                reconciler.stepClaimed(machine, step),
                Effect.sync(() => onLaunch({ _tag: "Unavailable" }))
              )
            )
            return answer
          })
      })
    })
  )
}
