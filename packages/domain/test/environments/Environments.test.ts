/** Budgets by UTC month, on both stores (decisions: Environments). */
import { expect } from "@effect/vitest"
import type { Principal } from "@sluice/domain/access/Principal"
import { Environments } from "@sluice/domain/environments/Environments"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient } from "effect/sql"
import { onEveryDatabase } from "@sluice/testing/engines/Databases"

const W = "01890a5d-ac96-774b-bcce-b302099a8057"
const E = "01890a5d-ac96-774b-bcce-b302099a8058"
const principal = { workspaceId: W, environmentId: E } as Principal

onEveryDatabase("Environments", (it) => {
  it.layer(Environments.layer)("", (it) => {
    it.effect("counts a month's spending in that month only, and wakes the watcher at a new budget", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const environments = yield* Environments
        const at = new Date(Date.UTC(2026, 11, 31, 23, 59, 59, 999))
        yield* TestClock.setTime(at.getTime())
        yield* sql`insert into workspaces (id, name, created_at) values (${W}, 'w', ${at}::timestamptz)`
        yield* sql`insert into environments (id, workspace_id, name, is_default, month, month_spent, created_at, wake_at)
          values (${E}, ${W}, 'default', true, '2026-12-01', 5000000000, ${at}::timestamptz, ${new Date(at.getTime() + 1e9)}::timestamptz)`
        const before = yield* environments.get(principal, E)
        expect([before.monthSpent, before.budgetResetsAt.toISOString()]).toEqual([
          5_000_000_000n,
          "2027-01-01T00:00:00.000Z"
        ])
        yield* TestClock.adjust("1 millis")
        const after = yield* environments.get(principal, E)
        expect([after.monthSpent, after.budgetResetsAt.toISOString()]).toEqual([0n, "2027-02-01T00:00:00.000Z"])

        yield* sql`update environments set budget_reached_on = '2027-01-01'`
        expect((yield* environments.setBudget(principal, E, 7n)).monthlyBudget).toBe(7n)
        const [row] = yield* sql<{ wake: Date; events: bigint; reached: Date | null }>`
          select wake_at as wake, events, budget_reached_on as reached from environments`
        // The mark of the old budget does not hold for the new one.
        expect([row!.wake.getTime() - at.getTime(), row!.events, row!.reached]).toEqual([1, 1n, null])
        expect((yield* environments.setBudget(principal, E, null)).monthlyBudget).toBe(null)
        const stranger = { ...principal, workspaceId: E }
        expect((yield* Effect.flip(environments.get(stranger, E)))._tag).toBe("EnvironmentNotFound")
        expect((yield* Effect.flip(environments.setBudget(stranger, E, 1n)))._tag).toBe("EnvironmentNotFound")
        expect((yield* environments.list(stranger, { limit: 10, after: undefined })).total).toBe(0)
      })
    )
  })
})
