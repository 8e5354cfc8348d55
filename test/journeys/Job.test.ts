/** The life of a job from submission to bill, in virtual time, through the production services and the simulator. */
import { assert } from "@effect/vitest"
import type { Principal } from "@sluice/domain/access/Principal"
import { Billing } from "@sluice/domain/billing/Billing"
import { costOf } from "@sluice/domain/billing/Money"
import { Environments } from "@sluice/domain/environments/Environments"
import type { Job } from "@sluice/domain/jobs/Job"
import { JobLogs } from "@sluice/domain/jobs/JobLogs"
import { Jobs } from "@sluice/domain/jobs/Jobs"
import { PgClient } from "@effect/sql-pg"
import { defaultWorld } from "@sluice/simulator/world/World"
import { Clock, Effect, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { onEveryDatabase } from "@sluice/testing/engines/Databases"
import { auditBooks, makeTenant } from "@sluice/testing/fixtures/Tenants"
import { playUntil, virtualFleet } from "@sluice/testing/fixtures/VirtualFleet"

const T0 = Date.UTC(2027, 2, 15, 12)
const MINUTE = 60_000
const fleet = Layer.mergeAll(virtualFleet({ ...defaultWorld, seed: 7 }), Environments.layer)

/** A world with two GPUs of one type and none of another. */
const narrow = {
  ...defaultWorld,
  seed: 7,
  gpuTypes: defaultWorld.gpuTypes.map((type) => ({
    ...type,
    capacity: { "us-east": type.id === "H100" ? 2 : 0 }
  }))
}

const minutes = (n: number) => Effect.flatMap(Clock.currentTimeMillis, (now) => playUntil(now + n * MINUTE))

const run = Effect.fnUntraced(function* (principal: Principal, more: object) {
  const jobs = yield* Jobs
  return yield* jobs.submit(principal, { command: "true", gpu_type: "H100", max_runtime_minutes: 30, ...more })
})

const get = (principal: Principal, job: Job) =>
  Effect.flatMap(Jobs, (jobs) => Effect.orDie(jobs.get(principal, job.id)))

const log = Effect.fnUntraced(function* (principal: Principal, job: Job) {
  const logs = yield* JobLogs
  const events = yield* Effect.orDie(logs.events(principal, job.id, { offset: 0, tail: undefined, follow: false }))
  const parts = yield* Stream.runCollect(events)
  return parts.map((event) => (event._tag === "Log" ? new TextDecoder().decode(event.bytes) : "")).join("")
})

onEveryDatabase("A job", (it) => {
  it.effect("runs, streams its log, is billed to the millisecond, and the rest of its hold is released", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(T0)
      const principal = yield* makeTenant({ credit: 100_000_000_000n })
      const billing = yield* Billing
      const queued = yield* run(principal, {
        command: "echo $GREETING from $SERVICE_GPU_COUNT x $SERVICE_GPU_TYPE; sleep 90; echo late >&2; exit 7",
        env: { GREETING: "hello-there" },
        gpu_count: 2
      })
      assert.strictEqual(queued.status, "queued")
      const price = 2n * 2_990_000_000n
      assert.strictEqual((yield* billing.balance(principal)).held, costOf(price, 45 * MINUTE))
      yield* minutes(1)
      const running = yield* get(principal, queued)
      assert.strictEqual(running.status, "running")
      assert.isNotNull(running.startedAt)
      assert.isTrue(running.cost !== null && running.cost > 0n)
      yield* minutes(5)
      const done = yield* get(principal, queued)
      assert.strictEqual(done.status, "failed")
      assert.strictEqual(done.exitCode, 7)
      assert.isNull(done.error)
      assert.strictEqual(yield* log(principal, done), "*********** from 2 x H100\nlate\n")
      const balance = yield* billing.balance(principal)
      assert.strictEqual(balance.held, 0n)
      assert.strictEqual(balance.balance, 100_000_000_000n - done.cost!)
      const { items } = yield* billing.transactions(principal, { limit: 10, after: undefined })
      assert.strictEqual(items[0]?.amount, -done.cost!)
      assert.strictEqual(items[0]?.balanceAfter, balance.balance)
      assert.deepStrictEqual(yield* auditBooks, [])
    }).pipe(Effect.provide(fleet))
  )

  it.effect("ends in the right status: succeeded, timed out, cancelled, over its ceiling, refused", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(T0)
      const principal = yield* makeTenant()
      const jobs = yield* Jobs
      const ok = yield* run(principal, {})
      const slow = yield* run(principal, { command: "sleep 999999", max_runtime_minutes: 3 })
      const dear = yield* run(principal, { command: "sleep 999999", max_cost_usd: 0.25 })
      const unwanted = yield* run(principal, { command: "echo begun; sleep 999999" })
      yield* minutes(2)
      const asked = yield* jobs.cancel(principal, unwanted.id)
      assert.strictEqual(asked.status, "running")
      assert.isNotNull(asked.cancelRequestedAt)
      yield* minutes(20)
      assert.strictEqual((yield* get(principal, ok)).status, "succeeded")
      const late = yield* get(principal, slow)
      assert.strictEqual(late.status, "timed_out")
      assert.isNull(late.exitCode)
      assert.isAtLeast(late.endedAt!.getTime() - late.startedAt!.getTime(), 3 * MINUTE)
      assert.isAtMost(late.endedAt!.getTime() - late.startedAt!.getTime(), 3 * MINUTE + 5_000)
      const capped = yield* get(principal, dear)
      assert.strictEqual(capped.status, "failed")
      assert.strictEqual(capped.statusReason, "cost_ceiling")
      assert.isTrue(capped.cost! >= 250_000_000n && capped.cost! < 253_000_000n, `${capped.cost}`)
      const cancelled = yield* get(principal, unwanted)
      assert.strictEqual(cancelled.status, "cancelled")
      assert.strictEqual(yield* log(principal, cancelled), "begun\n")
      assert.deepStrictEqual((yield* jobs.cancel(principal, unwanted.id)).status, "cancelled")
      const refusal = yield* Effect.flip(jobs.cancel(principal, ok.id))
      assert.strictEqual(refusal._tag, "JobEnded")
      assert.deepStrictEqual(yield* auditBooks, [])
    }).pipe(Effect.provide(fleet))
  )

  it.effect("stops at the moment at which the budget is reached, computed ahead from the burn rate", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(T0)
      const principal = yield* makeTenant({ budget: 1_000_000_000n })
      const all = yield* Effect.forEach([1, 2, 3], () => run(principal, { command: "sleep 999999" }))
      yield* minutes(25)
      let total = 0n
      for (const job of all) {
        const ended = yield* get(principal, job)
        assert.strictEqual(ended.status, "failed")
        assert.strictEqual(ended.statusReason, "budget_reached")
        total += ended.cost!
      }
      // Three machines cost 2.5 milli-USD a second, and a stop takes up to two seconds.
      assert.isTrue(total >= 1_000_000_000n && total < 1_010_000_000n, `${total}`)
      assert.strictEqual((yield* Effect.flip((yield* Billing).requireBudget(principal)))._tag, "BudgetReached")
      const refusal = yield* Effect.flip(run(principal, {}))
      assert.strictEqual(refusal._tag, "BudgetReached")
      assert.deepStrictEqual(yield* auditBooks, [])
    }).pipe(Effect.provide(fleet))
  )

  it.effect("stops at the moment at which the credit ends, and the operator bears the cost of the stop", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(T0)
      // The hold covers 20 minutes (5 of runtime, 15 of set-up) and the balance has no more. The set-up takes an hour.
      const hold = costOf(2_990_000_000n, 20 * MINUTE)
      const principal = yield* makeTenant({ credit: hold })
      const job = yield* run(principal, { max_runtime_minutes: 5 })
      yield* minutes(25)
      const ended = yield* get(principal, job)
      assert.strictEqual(ended.status, "failed")
      assert.strictEqual(ended.statusReason, "balance_exhausted")
      assert.isNull(ended.startedAt)
      assert.strictEqual(ended.cost, hold)
      const balance = yield* (yield* Billing).balance(principal)
      assert.deepStrictEqual([balance.balance, balance.held], [0n, 0n])
      const sql = yield* PgClient.PgClient
      const borne = yield* sql.unsafe<{ readonly sum: bigint }>(
        `select -sum(amount)::int8 as sum from entries where account_id = '00000000-0000-7000-8000-000000000003'`
      )
      // A stop takes at most two seconds.
      assert.isTrue(borne[0]!.sum > 0n && borne[0]!.sum <= costOf(2_990_000_000n, 2_000), String(borne[0]!.sum))
      assert.deepStrictEqual(yield* auditBooks, [])
    }).pipe(Effect.provide(virtualFleet({ ...defaultWorld, seed: 7, setUpMs: [60 * MINUTE, 60 * MINUTE] })))
  )

  it.effect("fails at once if its machine is refused for good, and the error names the job", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(T0)
      const principal = yield* makeTenant()
      const refusal = yield* Effect.flip(run(principal, {}))
      assert.strictEqual(refusal._tag, "LaunchFailed")
      const jobs = yield* Jobs
      const job = yield* Effect.orDie(jobs.get(principal, refusal._tag === "LaunchFailed" ? refusal.jobId : ""))
      assert.strictEqual(job.status, "failed")
      assert.strictEqual(job.statusReason, "launch_failed")
      assert.isNotNull(job.error)
      assert.isNull(job.cost)
      assert.strictEqual((yield* (yield* Billing).balance(principal)).held, 0n)
    }).pipe(Effect.provide(virtualFleet({ ...defaultWorld, seed: 7, refuse: ["H100"] })))
  )

  it.effect("waits while all GPUs are taken, and starts as soon as one is free", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(T0)
      const principal = yield* makeTenant()
      const all = yield* Effect.forEach([1, 2, 3], () => run(principal, { gpu_count: 2, command: "sleep 600" }))
      yield* minutes(11)
      const states = yield* Effect.forEach(all, (job) => get(principal, job))
      assert.deepStrictEqual(
        states.map((job) => job.status),
        ["succeeded", "running", "queued"]
      )
      // The GPUs were free when the first machine was gone. Launch and set-up take up to 16 s.
      assert.isBelow(states[1]!.startedAt!.getTime() - states[0]!.endedAt!.getTime(), 17_000)
      yield* minutes(25)
      const last = yield* get(principal, all[2]!)
      assert.strictEqual(last.status, "succeeded")
      const hopeless = yield* run(principal, { gpu_type: "H200", gpu_count: 8, capacity_wait_minutes: 5 })
      yield* minutes(6)
      const given = yield* get(principal, hopeless)
      assert.strictEqual(given.statusReason, "no_capacity")
      assert.isNull(given.cost)
      assert.deepStrictEqual(yield* auditBooks, [])
    }).pipe(Effect.provide(virtualFleet(narrow)))
  )

  it.effect("finds the files of the previous job on its volume, which one machine has at a time", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(T0)
      const principal = yield* makeTenant()
      const sql = yield* PgClient.PgClient
      const storage_id = "01890000-0000-7000-8000-000000000001"
      yield* sql.unsafe(
        `insert into volumes (id, workspace_id, environment_id, name, region, size_gb, created_at) values ($1, $2, $3, 'v', 'eu-north', 1, $4)`,
        [storage_id, principal.workspaceId, principal.environmentId, new Date(T0)]
      )
      yield* run(principal, { command: "mkdir -p a && echo 42 > a/answer; sleep 60", storage_id })
      assert.strictEqual((yield* Effect.flip(run(principal, { storage_id })))._tag, "VolumeAttached")
      yield* minutes(5)
      const second = yield* run(principal, { command: "cat a/answer", storage_id })
      yield* minutes(5)
      assert.strictEqual(yield* log(principal, second), "42\n")
      const rows = yield* sql.unsafe(`select attached_to, used_bytes > 0 as used from volumes`)
      assert.deepStrictEqual(rows, [{ attached_to: null, used: true }])
      const other = "01890000-0000-7000-8000-000000000002"
      assert.strictEqual((yield* Effect.flip(run(principal, { storage_id: other })))._tag, "VolumeNotFound")
    }).pipe(Effect.provide(fleet))
  )
})
