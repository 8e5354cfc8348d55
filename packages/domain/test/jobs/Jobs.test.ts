/** Submissions of jobs: the order of their refusals, and the launch of their machines (decisions: Jobs; interface: POST /jobs). */
import { expect } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import * as ControlPlane from "@sluice/domain/ControlPlane"
import { costOf } from "@sluice/domain/billing/Money"
import { Replica } from "@sluice/domain/database/Replica"
import { Seal } from "@sluice/domain/database/Seal"
import type { Attempt } from "@sluice/domain/idempotency/Attempt"
import { Jobs } from "@sluice/domain/jobs/Jobs"
import {
  type LaunchSpec,
  MachineProvider,
  type MachineProviderService,
  ProviderUnavailable
} from "@sluice/domain/machines/MachineProvider"
import { Context, Crypto, Effect, Fiber, Layer, Redacted, Result } from "effect"
import { TestClock } from "effect/testing"
import { onEveryDatabase } from "@sluice/testing/engines/Databases"
import { losing } from "@sluice/testing/engines/LostAnswers"
import { makeTenant } from "@sluice/testing/fixtures/Tenants"
import { tick } from "@sluice/testing/fixtures/Tick"

const T0 = Date.UTC(2027, 2, 15)
const PRICE = 2_000_000_000n
const body = { command: "true", gpu_type: "H100", max_runtime_minutes: 30 }
/** Includes a quarter of an hour for the set-up. */
const HOLD = costOf(PRICE, 45 * 60_000)

/** A provider without capacity, so that only a tick launches machines; it can be unavailable. */
class World extends Context.Service<World, { isAway: boolean; readonly launched: Array<LaunchSpec> }>()("World") {}

const provider = Layer.effect(
  MachineProvider,
  Effect.map(World, (world) => {
    const observation = { state: { _tag: "Launching" as const }, at: 0, nextAt: null, nextOutputAt: null }
    const type = { id: "H100", name: "H100", memoryGb: 80, maxGpuCount: 8, priceNanoUsdPerGpuHour: PRICE, available: 0 }
    return {
      name: "test",
      capabilities: { visibleWithinMs: 0 },
      regions: ["eu", "us"].map((id) => ({ id, name: id, provider: "test" })),
      priceOf: () => PRICE,
      gpuTypes: Effect.suspend(() =>
        world.isAway
          ? Effect.fail(new ProviderUnavailable({ cause: "away" }))
          : Effect.succeed([{ ...type, regions: ["eu", "us"] }])
      ),
      launch: (spec: LaunchSpec) =>
        Effect.as(
          Effect.sync(() => world.launched.push(spec)),
          observation
        )
    } as unknown as MachineProviderService
  })
)
const seal = Layer.succeed(Seal, {
  seal: (value) => new TextEncoder().encode(Redacted.value(value)),
  open: (sealed) => Effect.succeed(Redacted.make(new TextDecoder().decode(sealed)))
})
const losses = { left: 0, of: /insert into jobs/ }
const TestLayer = Layer.suspend(() =>
  ControlPlane.layer.pipe(
    Layer.provide(losing(losses)),
    Layer.provide(provider),
    Layer.provideMerge(Layer.succeed(World, { isAway: false, launched: [] })),
    Layer.provide([seal, Replica.layer({ speed: 1 })]),
    Layer.provideMerge(NodeServices.layer)
  )
)

const setUp = Effect.fnUntraced(function* (options: Parameters<typeof makeTenant>[0]) {
  const sql = yield* PgClient.PgClient
  yield* TestClock.setTime(T0)
  const tenant = yield* makeTenant(options)
  const { randomUUIDv7 } = yield* Crypto.Crypto
  const volume = yield* randomUUIDv7()
  yield* sql.unsafe(
    `insert into volumes (id, workspace_id, environment_id, name, region, size_gb, created_at) values ($1, $2, $3, 'v', 'eu', 1, $4)`,
    [volume, tenant.workspaceId, tenant.environmentId, new Date(T0)]
  )
  const recorded = sql.unsafe<{ readonly n: bigint }>(`select count(*) as n from jobs where workspace_id = $1`, [
    tenant.workspaceId
  ])
  const attemptId = yield* randomUUIDv7()
  /** A run under an Idempotency-Key, which holds the key until it is claimed anew. */
  const claimed = Effect.fnUntraced(function* (lockedUntil: Date, isRetry: boolean) {
    yield* sql.unsafe(
      `insert into idempotency_keys (workspace_id, key, request_hash, attempt_id, locked_until, created_at) values ($1, 'k', '', $2, $3, $4)
        on conflict (workspace_id, key) do update set locked_until = excluded.locked_until`,
      [tenant.workspaceId, attemptId, lockedUntil, new Date(T0)]
    )
    return { id: attemptId, isRetry, key: "k", lockedUntil }
  })
  return { attemptId, claimed, recorded: Effect.map(recorded, ([row]) => row!.n), sql, tenant, volume }
})

onEveryDatabase("Jobs", (it) => {
  it.effect("are affordable with exactly their hold, and not after the budget is spent", () =>
    Effect.gen(function* () {
      const jobs = yield* Jobs
      for (const [credit, budget, affordable] of [
        [HOLD, undefined, true],
        [HOLD - 1n, undefined, false],
        [HOLD, 1n, true],
        [HOLD, 0n, false]
      ] as const) {
        const { recorded, tenant } = yield* setUp(budget === undefined ? { credit } : { credit, budget })
        const quote = yield* jobs.quote(tenant, body)
        expect(quote).toMatchObject({ maxCost: HOLD, available: credit, budgetRemaining: budget ?? null, affordable })
        expect(yield* recorded).toBe(0n)
        expect((yield* Effect.exit(jobs.submit(tenant, body)))._tag).toBe(affordable ? "Success" : "Failure")
      }
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("run in the region of their volume, and are refused where it is unavailable", () =>
    Effect.gen(function* () {
      const jobs = yield* Jobs
      const { launched } = yield* World
      const { sql, tenant, volume } = yield* setUp({})
      const onVolume = { ...body, storage_id: volume }
      const refusals = (asked: object) =>
        Effect.all([Effect.flip(jobs.quote(tenant, asked)), Effect.flip(jobs.submit(tenant, asked))])
      for (const elsewhere of yield* refusals({ ...onVolume, region: "us" })) {
        expect(elsewhere).toMatchObject({ _tag: "RequestInvalid", issues: [{ path: "region" }] })
      }
      const job = yield* jobs.submit(tenant, { ...onVolume, env: { A: "b" } })
      yield* TestClock.adjust(30_000)
      yield* tick
      expect(launched).toMatchObject([
        { key: job.machineId, region: "eu", volumeId: volume, maxRuntimeMs: 30 * 60_000 }
      ])
      const [machine] = yield* sql.unsafe<{ readonly spec: object }>("select spec from machines")
      expect(Object.keys(machine!.spec).sort().join(" ")).toBe(
        "command gpuCount gpuType image maxRuntimeMs region template variables"
      )
      expect([...launched[0]!.env].map(([name, value]) => [name, Redacted.value(value)])).toEqual([
        ["A", "b"],
        ["SERVICE_JOB_ID", job.id],
        ["SERVICE_JOB_NAME", job.name],
        ["SERVICE_ENVIRONMENT", "default"],
        ["SERVICE_GPU_TYPE", "H100"],
        ["SERVICE_GPU_COUNT", "1"]
      ])
      const tags = Effect.map(refusals(onVolume), (all) => all.map((one) => one._tag))
      expect(yield* tags).toEqual(["VolumeAttached", "VolumeAttached"])
      yield* sql.unsafe(`delete from volumes`)
      expect(yield* tags).toEqual(["VolumeNotFound", "VolumeNotFound"])
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("are not recorded while the provider is unavailable; insufficient money is reported first", () =>
    Effect.gen(function* () {
      const jobs = yield* Jobs
      const world = yield* World
      const { recorded, tenant } = yield* setUp({ credit: HOLD })
      const poor = yield* setUp({ credit: HOLD - 1n })
      yield* jobs.quote(tenant, body)
      world.isAway = true
      yield* TestClock.adjust(1_000)
      expect((yield* Effect.flip(jobs.submit(tenant, body)))._tag).toBe("MachinesUnavailable")
      expect(yield* Effect.flip(jobs.submit(poor.tenant, body))).toMatchObject({
        _tag: "CreditInsufficient",
        required: HOLD,
        available: HOLD - 1n
      })
      expect([yield* recorded, yield* poor.recorded]).toEqual([0n, 0n])
      world.isAway = false
      yield* jobs.submit(tenant, body)
      expect(yield* recorded).toBe(1n)
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("of an earlier run of the request are returned, whatever would refuse a new one", () =>
    Effect.gen(function* () {
      const jobs = yield* Jobs
      const { attemptId: id, claimed, recorded, tenant, volume } = yield* setUp({ credit: HOLD })
      const onVolume = { ...body, storage_id: volume }
      const made = yield* jobs.submit(tenant, onVolume, yield* claimed(new Date(T0), false))
      expect(made.id).toBe(id)
      // Its own volume is attached and its own money is held by now.
      expect((yield* jobs.submit(tenant, onVolume, yield* claimed(new Date(T0 + 1), true))).id).toBe(id)
      expect(yield* recorded).toBe(1n)
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("are not created by a stalled run whose key another run got and refused", () =>
    Effect.gen(function* () {
      const jobs = yield* Jobs
      const { claimed, recorded, sql, tenant } = yield* setUp({ credit: HOLD - 1n })
      const first = yield* claimed(new Date(T0), false)
      const second = yield* claimed(new Date(T0 + 1), true)
      expect(yield* Effect.flip(jobs.submit(tenant, body, second))).toMatchObject({ _tag: "CreditInsufficient" })
      yield* sql.unsafe(`update accounts set balance = balance + 1 where id = $1`, [tenant.workspaceId])
      expect(yield* Effect.flip(jobs.submit(tenant, body, first))).toMatchObject({ _tag: "IdempotencyInProgress" })
      expect(yield* recorded).toBe(0n)
      const { id } = yield* jobs.submit(tenant, body, second)
      // Every run gets the existing job.
      expect((yield* jobs.submit(tenant, body, first)).id).toBe(id)
      expect(yield* recorded).toBe(1n)
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("with an unknown outcome are named to their caller; a lost answer alone is retried", () =>
    Effect.gen(function* () {
      const jobs = yield* Jobs
      const { attemptId, claimed, recorded, tenant } = yield* setUp({})
      const losingNext = Effect.fnUntraced(function* (left: number, attempt?: Attempt) {
        losses.left = left
        const fiber = yield* Effect.forkChild(Effect.result(jobs.submit(tenant, body, attempt)))
        while (fiber.pollUnsafe() === undefined) {
          yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 2)))
          yield* TestClock.adjust(10)
        }
        return Result.merge(yield* Fiber.join(fiber))
      })
      expect(yield* losingNext(1)).toMatchObject({ status: "queued" })
      const hasIdempotencyKey = yield* claimed(new Date(T0), false)
      expect(yield* losingNext(9, hasIdempotencyKey)).toMatchObject({
        _tag: "JobOutcomeUnknown",
        jobId: attemptId,
        hasIdempotencyKey: true
      })
      const plain = yield* losingNext(9)
      const jobId = "jobId" in plain ? plain.jobId : ""
      expect(plain).toMatchObject({ _tag: "JobOutcomeUnknown", hasIdempotencyKey: false })
      losses.left = 0
      expect((yield* jobs.get(tenant, jobId)).id).toBe(jobId)
      expect((yield* jobs.submit(tenant, body, { ...hasIdempotencyKey, isRetry: true })).id).toBe(attemptId)
      expect(yield* recorded).toBe(3n)
    }).pipe(Effect.provide(TestLayer))
  )
})
