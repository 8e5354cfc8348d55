/**
 * Stops the machines of an environment at the moment at which its monthly budget is reached (decisions: Jobs, budget).
 *
 * The reconciler wakes when the billing of a machine begins or ends, when a cost is settled, when the budget changes,
 * and at the moment that it computed from the burn rate. A step is idempotent: a job whose stop was requested is not
 * asked again.
 */
import { Clock, Context, Effect, Layer } from "effect"
import * as Reconciler from "../database/Reconciler.ts"
import { Signals } from "../database/Signals.ts"
import { Wakeups } from "../database/Wakeups.ts"
import { BudgetStore, type ClaimedBudget } from "./BudgetStore.ts"
import { nextMonth } from "./Month.ts"
import type { NanoUsd } from "./Money.ts"
import { costOf, paysForMs } from "./Money.ts"

const SLOTS = 16

/**
 * Returns the time at which `spent` plus the cost of running machines reaches `budget` (ms): `now` if that is past,
 * `Infinity` if no machine runs. `since` of a machine is its start, or the start of the month if that is later.
 */
export const reachedAt = (budget: Pick<ClaimedBudget, "budget" | "spent" | "running">, now: number): number => {
  const accrued = budget.running.reduce((sum, { price, since }) => sum + costOf(price, now - since), 0n)
  const left: NanoUsd = budget.budget - budget.spent - accrued
  if (left <= 0n) return now
  const rate = budget.running.reduce((sum, { price }) => sum + price, 0n)
  return rate === 0n ? Number.POSITIVE_INFINITY : now + Math.max(1, paysForMs(rate, left))
}

export class BudgetReconciler extends Context.Service<
  BudgetReconciler,
  { readonly tick: Effect.Effect<number>; readonly run: Effect.Effect<never> }
>()("@sluice/domain/billing/BudgetReconciler") {
  static readonly layer = Layer.effect(
    BudgetReconciler,
    Effect.gen(function* () {
      const store = yield* BudgetStore
      const signals = yield* Signals
      const wakeups = yield* Wakeups
      const clock = yield* Clock.Clock

      const step = Effect.fnUntraced(function* (budget: ClaimedBudget) {
        const now = clock.currentTimeMillisUnsafe()
        const stopAtMs = reachedAt(budget, now)
        const month = nextMonth(budget.month)
        if (stopAtMs <= now) {
          yield* store.reached(budget, month)
          yield* wakeups.announce("jobs", "machines")
          return
        }
        reconciler.alarm(yield* store.later(budget, Math.min(stopAtMs, month)))
      })

      const reconciler: Reconciler.Reconciler<ClaimedBudget> = yield* Reconciler.make<ClaimedBudget>({
        name: "budgets",
        slots: SLOTS,
        claim: store.claim,
        renew: store.renew,
        step
      })
      yield* signals.listen("budgets", reconciler.signal)
      return BudgetReconciler.of({ tick: reconciler.tick, run: reconciler.run })
    })
  )
}
