/** The sweep of expired holds: each is released once, in batches, and then deleted. */
import { expect } from "@effect/vitest"
import { EnvironmentCredit } from "@sluice/domain/metering/CreditBlock"
import { HoldSweepStore } from "@sluice/domain/metering/HoldSweepStore"
import { reserveRow } from "@sluice/domain/metering/MeterRows"
import { type MeterRow, MeteringStore } from "@sluice/domain/metering/MeteringStore"
import type { Principal } from "@sluice/domain/access/Principal"
import { Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { onEveryDatabase, onPostgres } from "@sluice/testing/engines/Databases"
import { meterRow } from "../billing/support/Work.ts"
import { idOf, money, openWorkspace } from "@sluice/testing/fixtures/Workspace"

const stores = Layer.merge(MeteringStore.layer, HoldSweepStore.layer)

const reservation = (principal: Principal, n: number, amount: bigint): MeterRow =>
  reserveRow(idOf.request(n), new EnvironmentCredit(principal.workspaceId, principal.environmentId), amount)
const settlement = (principal: Principal, n: number, amount: bigint) =>
  meterRow(principal, idOf.request(n), true, amount)

onEveryDatabase("Expired holds", (it) => {
  it.effect("are released in batches, the first to expire first, and deleted after a delay", () =>
    Effect.gen(function* () {
      const store = yield* MeteringStore
      const { sweep } = yield* HoldSweepStore
      const sql = yield* SqlClient.SqlClient
      const principal = yield* openWorkspace(1, 100n)
      // The first to expire is settled by then, and delays no other.
      for (const [n, expiresAt] of [
        [1, 800],
        [2, 900],
        [3, 1_000],
        [4, 1_001]
      ] as const) {
        yield* store.flush([reservation(principal, n, 10n)], 0, expiresAt)
      }
      yield* store.flush([settlement(principal, 1, 7n)], 0, 1_000)
      const states = Effect.map(sql<{ readonly state: string }>`select state from holds order by id`, (rows) =>
        rows.map(({ state }) => state)
      )
      expect(yield* sweep(1_000, 0, 1)).toBe(1)
      expect(yield* states).toEqual(["settled", "released", "open", "open"])
      expect(yield* money(principal)).toMatchObject({ balance: 93n, held: 20n, openHolds: 20n })
      expect(yield* sweep(1_000, 0, 5)).toBe(1)
      expect(yield* sweep(1_000, 0, 5)).toBe(0)
      expect(yield* money(principal)).toMatchObject({ balance: 93n, held: 10n, openHolds: 10n })
      expect(yield* sweep(1_000, 1_001, 2)).toBe(2)
      expect(yield* sweep(1_000, 1_001, 2)).toBe(1)
      expect(yield* states).toEqual(["open"])
    }).pipe(Effect.provide(stores))
  )

  it.effect("without a budget share change no budget when they are settled", () =>
    Effect.gen(function* () {
      const store = yield* MeteringStore
      const sql = yield* SqlClient.SqlClient
      const principal = yield* openWorkspace(2, 100n)
      yield* store.flush([reservation(principal, 1, 10n)], 0, 1_000)
      // As before budgets counted holds.
      yield* sql`update holds set environment_id = null`
      yield* sql`update environments set reserved = 0`
      yield* store.flush([settlement(principal, 1, 7n)], 0, 1_000)
      expect(yield* money(principal)).toMatchObject({ balance: 93n, held: 0n, spent: 7n })
    }).pipe(Effect.provide(stores))
  )
})

onPostgres(
  "Expired holds beside their settlement",
  (it) => {
    it.effect("are settled or released, whichever is first, and no change of the account is lost", () =>
      Effect.gen(function* () {
        const store = yield* MeteringStore
        const holds = yield* HoldSweepStore
        const sql = yield* SqlClient.SqlClient
        const waiting = sql`select pg_stat_clear_snapshot()`.pipe(
          Effect.andThen(
            sql<{ readonly n: bigint }>`select count(*) as n from pg_stat_activity
              where datname = current_database() and wait_event_type = 'Lock'`
          ),
          Effect.map(([row]) => row!.n)
        )
        for (const [n, settlesFirst] of [true, false].entries()) {
          const principal = yield* openWorkspace(n, 100n)
          const [one, other] = [2 * n, 2 * n + 1]
          yield* store.flush([reservation(principal, one, 10n), reservation(principal, other, 10n)], 0, 1_000)
          const settle = store.flush([settlement(principal, one, 7n)], 0, 1_000)
          const sweep = holds.sweep(1_000, 0, 10)
          // Both have begun before one of them has changed a row.
          const both = yield* sql.withTransaction(
            Effect.gen(function* () {
              yield* sql`select from accounts where id = ${principal.workspaceId} for update`
              const fibers: Array<Fiber.Fiber<unknown, unknown>> = []
              for (const [i, begin] of (settlesFirst ? [settle, sweep] : [sweep, settle]).entries()) {
                fibers.push(yield* Effect.forkDetach(begin))
                yield* Effect.repeat(waiting, { until: (count) => count === BigInt(i + 1) })
              }
              return fibers
            })
          )
          yield* Effect.forEach(both, Fiber.join)
          const charged = settlesFirst ? 7n : 0n
          expect(yield* money(principal)).toMatchObject({ balance: 100n - charged, held: 0n, spent: charged })
        }
      }).pipe(Effect.provide(stores))
    )
  },
  { live: true }
)
