/**
 * All that works in the background, in one place: started as a layer, or ticked by hand in virtual time.
 */
import { Effect, Layer } from "effect"
import { Budgets } from "./billing/Budgets.ts"
import { JobReconciler } from "./jobs/JobReconciler.ts"
import { MachineReconciler } from "./machines/MachineReconciler.ts"
import { MachineSweep } from "./machines/MachineSweep.ts"

/** Runs every loop until the layer's scope closes. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const machines = yield* MachineReconciler
    const jobs = yield* JobReconciler
    const budgets = yield* Budgets
    const sweep = yield* MachineSweep
    for (const loop of [machines.run, jobs.run, budgets.run, sweep.run]) yield* Effect.forkScoped(loop)
  })
)

/** Does all that is due now, and what becomes due by it; answers how many steps that were. */
export const tick = Effect.gen(function* () {
  const machines = yield* MachineReconciler
  const jobs = yield* JobReconciler
  const budgets = yield* Budgets
  let total = 0
  for (;;) {
    const steps = (yield* machines.tick) + (yield* jobs.tick) + (yield* budgets.tick)
    if (steps === 0) return total
    total += steps
  }
})
