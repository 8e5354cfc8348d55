/**
 * The control plane over the simulated world in virtual time: the production services and stores, no loop in the background,
 * a clock that is moved by hand. `untilIdle` plays the loops' part: do what is due, move to what is due next.
 */
import { NodeServices } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import * as ControlPlane from "@sluice/domain/ControlPlane"
import { Replica } from "@sluice/domain/database/Replica"
import { MasterKeys } from "@sluice/server/database/MasterKey"
import { nodeSeal } from "@sluice/server/database/NodeSeal"
import * as InlineShell from "@sluice/simulator/shell/InlineShell"
import * as SimulatedMachines from "@sluice/simulator/world/SimulatedMachines"
import type { World } from "@sluice/simulator/world/World"
import { migrateWorld } from "@sluice/simulator/world/WorldMigrations"
import { Clock, Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { tick } from "./Tick.ts"

const MASTER_KEY = Buffer.alloc(32, 7).toString("base64")

const seal = nodeSeal.pipe(Layer.provide(MasterKeys.layer({ given: Redacted.make(MASTER_KEY), directory: "unused" })))

/** Needs the database clients. */
export const virtualFleet = (world: World) =>
  ControlPlane.layer.pipe(
    Layer.provideMerge(SimulatedMachines.layer(world).pipe(Layer.provide(InlineShell.layer))),
    Layer.provideMerge(Layer.effectDiscard(migrateWorld)),
    Layer.provideMerge(seal),
    Layer.provideMerge(Replica.layer({ speed: 1 })),
    Layer.provideMerge(NodeServices.layer)
  )

const NEXT_DUE = `select least(
  (select min(wake_at) from machines where status not in ('stopped', 'failed')),
  (select min(wake_at) from jobs where status not in ('succeeded', 'failed', 'cancelled', 'timed_out')),
  (select min(wake_at) from environments where monthly_budget is not null and budget_reached_on is null
     and exists (select 1 from machines m where m.environment_id = environments.id and m.running_at is not null and m.stopped_at is null))) as at`

/** Plays on until nothing is due before `until` (ms); `stride`: what is due within so many ms is done together. Answers the steps. */
export const playUntil = Effect.fnUntraced(function* (until: number, stride = 0) {
  const sql = yield* PgClient.PgClient
  let steps = 0
  for (;;) {
    steps += yield* tick
    const rows = yield* sql.unsafe<{ readonly at: Date | null }>(NEXT_DUE)
    const at = rows[0]?.at
    if (at == null || at.getTime() > until) {
      yield* TestClock.setTime(Math.max(until, yield* Clock.currentTimeMillis))
      return steps
    }
    yield* TestClock.setTime(Math.max(at.getTime(), yield* Clock.currentTimeMillis) + stride)
  }
})

/** Whether any job is not terminal yet. */
export const anyAlive = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const rows = yield* sql.unsafe<{ readonly n: bigint }>(
    `select count(*) as n from jobs where status not in ('succeeded', 'failed', 'cancelled', 'timed_out')`
  )
  return (rows[0]?.n ?? 0n) > 0n
})
