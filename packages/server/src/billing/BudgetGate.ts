/**
 * Whether an environment's budget leaves room, asked before every submission and so remembered for a moment. Only "yes" is
 * remembered: a budget that was raised counts at once, and one that was just reached is found by the admission itself,
 * which alone decides.
 */
import type { Principal } from "@sluice/domain/access/Principal"
import { Billing } from "@sluice/domain/billing/Billing"
import type { BudgetReached } from "@sluice/domain/billing/BillingErrors"
import { Clock, Context, Effect, Layer } from "effect"

const REMEMBERED_MS = 900
const MAX_ENVIRONMENTS = 10_000

export class BudgetGate extends Context.Service<
  BudgetGate,
  {
    readonly pass: (principal: Principal) => Effect.Effect<void, BudgetReached>
    /** A budget was changed here: ask anew. */
    readonly forget: (environmentId: string) => Effect.Effect<void>
  }
>()("@sluice/server/billing/BudgetGate") {
  static readonly layer = Layer.effect(
    BudgetGate,
    Effect.gen(function* () {
      const billing = yield* Billing
      const passUntil = new Map<string, number>()
      const ask = (principal: Principal, now: number) =>
        Effect.map(billing.withinBudget(principal), () => {
          if (passUntil.size >= MAX_ENVIRONMENTS) passUntil.clear()
          passUntil.set(principal.environmentId, now + REMEMBERED_MS)
        })

      return BudgetGate.of({
        pass: (principal) =>
          Effect.flatMap(Clock.currentTimeMillis, (now) =>
            now < (passUntil.get(principal.environmentId) ?? 0) ? Effect.void : ask(principal, now)
          ),
        forget: (environmentId) => Effect.sync(() => void passUntil.delete(environmentId))
      })
    })
  )
}
