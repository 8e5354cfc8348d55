/** Stands for the loops of `Reconcilers.layer` where time is moved by hand. */
import { BudgetReconciler } from "@sluice/domain/billing/BudgetReconciler"
import { JobReconciler } from "@sluice/domain/jobs/JobReconciler"
import { MachineReconciler } from "@sluice/domain/machines/MachineReconciler"
import { Effect } from "effect"

/** Does all that is due now, and what becomes due by it; answers how many steps that were. */
export const tick = Effect.gen(function* () {
  const machines = yield* MachineReconciler
  const jobs = yield* JobReconciler
  const budgets = yield* BudgetReconciler
  let total = 0
  for (;;) {
    const steps = (yield* machines.tick) + (yield* jobs.tick) + (yield* budgets.tick)
    if (steps === 0) return total
    total += steps
  }
})
