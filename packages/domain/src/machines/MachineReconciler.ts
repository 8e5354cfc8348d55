/**
 * Brings every machine to where its row wants it: launched, observed, stopped when its command exits or a stop is asked for.
 *
 * Wakes by signal `machines`, by the moment that the last look named, and by poll; a machine that ends wakes those that wait
 * for capacity, the oldest first. A submission hands its new machine over
 * with `start`, already claimed, so that the provider's first answer comes while the caller still waits.
 */
import { Context, Deferred, Effect, Latch, Layer } from "effect"
import type { Redacted } from "effect"
import * as Reconciler from "../database/Reconciler.ts"
import { Replica } from "../database/Replica.ts"
import { Signals } from "../database/Signals.ts"
import type { ClaimedMachine } from "./MachineRow.ts"
import { type LaunchAnswer, MachineSteps } from "./MachineSteps.ts"
import { MachineStore } from "./MachineStore.ts"

/** Machines in step at once. */
const SLOTS = 64
/** Machines that end within this are answered together by those that wait. */
const TOGETHER_MS = 50

export class MachineReconciler extends Context.Service<
  MachineReconciler,
  {
    readonly tick: Effect.Effect<number>
    readonly run: Effect.Effect<never>
    /** Steps a machine that was recorded just now under this replica's claim; answers what the provider said to its launch. */
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
      const after = (wakeAt: number) => reconciler.alarm(wakeAt)
      const reconciler: Reconciler.Reconciler<ClaimedMachine> = yield* Reconciler.make<ClaimedMachine>({
        name: "machines",
        slots: SLOTS,
        claim: store.claim,
        renew: store.renew,
        step: (machine) => Effect.map(steps.run(machine), after)
      })
      yield* signals.listen("machines", reconciler.signal)

      let freed = 0
      const room = Latch.makeUnsafe(false)
      yield* signals.listen("capacity", () => {
        freed++
        room.openUnsafe()
      })
      /** Machines that ended make room for as many that wait, and for some that are smaller. */
      const makeRoom = Effect.suspend(() => {
        const ended = freed
        freed = 0
        room.closeUnsafe()
        return ended === 0 ? Effect.succeed(0) : store.wakeWaiting(2 * ended)
      })
      const roomLoop = Effect.forever(
        room.await.pipe(
          Effect.andThen(makeRoom),
          Effect.tap((woken) => Effect.sync(() => (woken > 0 ? reconciler.signal() : undefined))),
          Effect.ignoreCause,
          Effect.andThen(Effect.sleep(TOGETHER_MS * scale))
        )
      )

      return MachineReconciler.of({
        tick: Effect.gen(function* () {
          let steps = yield* reconciler.tick
          while ((yield* makeRoom) > 0) steps += yield* reconciler.tick
          return steps
        }),
        run: Effect.raceFirst(reconciler.run, roomLoop),
        start: (machine, variables) =>
          Effect.sync(() => {
            const answer = Deferred.makeUnsafe<LaunchAnswer>()
            const onLaunch = (given: LaunchAnswer) => Deferred.doneUnsafe(answer, Effect.succeed(given))
            const step = Effect.map(steps.run(machine, { variables, onLaunch }), after)
            // Interrupted or failed, the step leaves its row to the loop, when the lease has run out.
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
