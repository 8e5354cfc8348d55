/**
 * Checks before each submission whether the environment's budget is spent, and caches a positive result briefly.
 * Negative results are not cached, so a raised budget counts at once. A budget that was just spent is found by the
 * admission itself, which decides.
 */
import type { Principal } from "@sluice/domain/access/Principal"
import { Billing } from "@sluice/domain/billing/Billing"
import type { BudgetReached } from "@sluice/domain/billing/BillingErrors"
import { Clock, Context, Effect, Layer } from "effect"

const CACHE_MS = 900
const MAX_ENVIRONMENTS = 10_000

export class BudgetGate extends Context.Service<
  BudgetGate,
  {
    readonly pass: (principal: Principal) => Effect.Effect<void, BudgetReached>
    /** Evicts the cached result after a change of the budget on this replica. */
    readonly forget: (environmentId: string) => Effect.Effect<void>
  }
>()("@sluice/server/billing/BudgetGate") {
  static readonly layer = Layer.effect(
    BudgetGate,
    Effect.gen(function* () {
      const billing = yield* Billing
      const passUntil = new Map<string, number>()
      const check = (principal: Principal, now: number) =>
        Effect.map(billing.requireBudget(principal), () => {
          if (passUntil.size >= MAX_ENVIRONMENTS) passUntil.clear()
          passUntil.set(principal.environmentId, now + CACHE_MS)
        })

      return BudgetGate.of({
        pass: (principal) =>
          Effect.flatMap(Clock.currentTimeMillis, (now) =>
            now < (passUntil.get(principal.environmentId) ?? 0) ? Effect.void : check(principal, now)
          ),
        forget: (environmentId) => Effect.sync(() => void passUntil.delete(environmentId))
      })
    })
  )
}
