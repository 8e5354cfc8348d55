/** Some dozens of jobs on 24 machines in virtual time: they end well, fail, time out, are cancelled, run out of money, mount volumes. */
import { PgClient } from "@effect/sql-pg"
import { Jobs } from "@sluice/domain/jobs/Jobs"
import { defaultWorld, type World } from "@sluice/simulator/world/World"
import { Clock, Crypto, Effect } from "effect"
import { TestClock } from "effect/testing"
import { makeTenant } from "@sluice/testing/fixtures/Tenants"
import { virtualFleet } from "@sluice/testing/fixtures/VirtualFleet"

export const T0 = Date.UTC(2027, 2, 15)
const JOBS = 36
const HOUR = 3_600_000

const world: World = {
  ...defaultWorld,
  seed: 5,
  gpuTypes: defaultWorld.gpuTypes.map((type) => ({ ...type, capacity: type.id === "A100" ? { "eu-north": 24 } : {} }))
}

/** Needs the database clients. */
export const fleet = virtualFleet(world)

const commandOf = (i: number) =>
  `echo $SERVICE_JOB_NAME >> ran.txt; echo started; sleep ${60 + ((i * 7_919) % 3_000)}; echo done; exit ${i % 5 === 0 ? 3 : 0}`

/** Submits them all; answers their ids. */
export const submitAll = Effect.gen(function* () {
  const jobs = yield* Jobs
  const rich = yield* makeTenant({ credit: 10_000_000_000_000n })
  const poor = yield* makeTenant({ credit: 500_000_000n })
  const thrifty = yield* makeTenant({ credit: 10_000_000_000_000n, budget: 400_000_000n })
  const volumeId = yield* Effect.flatMap(Crypto.Crypto, (crypto) => crypto.randomUUIDv7())
  const sql = yield* PgClient.PgClient
  yield* sql.unsafe(
    `insert into volumes (id, workspace_id, environment_id, name, region, size_gb, created_at) values ($1, $2, $3, 'data', 'eu-north', 10, $4)`,
    [volumeId, rich.workspaceId, rich.environmentId, new Date(T0)]
  )
  const accepted: Array<string> = []
  for (let i = 0; i < JOBS; i++) {
    const principal = i % 12 === 7 ? poor : i % 12 === 9 ? thrifty : rich
    const body = {
      command: commandOf(i),
      gpu_type: "A100",
      max_runtime_minutes: i % 10 === 0 ? 10 : 120,
      env: { TOKEN: "canary-of-a-secret" },
      ...(i === 4 ? { storage_id: volumeId } : {}),
      ...(i % 11 === 3 ? { max_cost_usd: 0.1 } : {})
    }
    const job = yield* Effect.option(jobs.submit(principal, body))
    if (job._tag === "None") continue
    accepted.push(job.value.id)
    if (i % 8 === 6) yield* jobs.cancel(principal, job.value.id)
  }
  return accepted
})

const NEXT = `select least((select min(wake_at) from machines where status not in ('stopped', 'failed')),
  (select min(wake_at) from jobs where status not in ('succeeded', 'failed', 'cancelled', 'timed_out')),
  (select min(wake_at) from environments where monthly_budget is not null and budget_reached_on is null)) as at`

/** Does what is due and looks after each, until nothing is for hours. */
export const play = Effect.fnUntraced(function* <R>(tick: Effect.Effect<number, never, R>, look: Effect.Effect<void>) {
  const sql = yield* PgClient.PgClient
  for (;;) {
    yield* tick
    yield* look
    const [row] = yield* sql.unsafe<{ readonly at: Date | null }>(NEXT)
    if (row?.at == null || row.at.getTime() > T0 + 12 * HOUR) return
    yield* TestClock.setTime(Math.max(row.at.getTime(), yield* Clock.currentTimeMillis))
  }
})
