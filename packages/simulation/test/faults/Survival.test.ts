/** A job under each single fault: it ends as it must, the books are exact, nothing is left running. */
import { PgClient } from "@effect/sql-pg"
import { expect } from "@effect/vitest"
import type { Principal } from "@sluice/domain/access/Principal"
import { JobLogs } from "@sluice/domain/jobs/JobLogs"
import { Jobs } from "@sluice/domain/jobs/Jobs"
import type { MachineProviderService } from "@sluice/domain/machines/MachineProvider"
import { MachineSweep } from "@sluice/domain/machines/MachineSweep"
import { Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import { onPglite } from "@sluice/testing/engines/Databases"
import { auditBooks, makeTenant } from "@sluice/testing/fixtures/Tenants"
import { playUntil } from "@sluice/testing/fixtures/VirtualFleet"
import { chance } from "@sluice/machine-shell/Chance"
import type { CallFault, FaultRates } from "@sluice/simulator/faults/Fault"
import { type FaultRanges, FaultyWorld } from "@sluice/simulator/faults/FaultyWorld"
import { LogFloods } from "@sluice/simulator/faults/LogFloods"
import { ratesOf, faultDrawOf } from "./support/Faults.ts"
import { type Faulted, faultyFleet } from "./support/FaultyFleet.ts"

const HOUR = 3_600_000
const T0 = Date.UTC(2027, 2, 15)
const COMMAND = "for i in $(seq 1 10); do echo line $i of ten; sleep 30; done"
const TEXT = Array.from({ length: 10 }, (_, i) => `line ${i + 1} of ten\n`).join("")

interface Case {
  readonly seed?: number
  readonly ranges?: Partial<FaultRanges>
  /** `submit` may be refused: that is an end too. */
  readonly ends: ReadonlyArray<string>
  /** Whether the whole text must be in the log. */
  readonly whole: boolean
}

const cases: Readonly<Partial<Record<CallFault, Case>>> = {
  launch_refused: { ends: ["succeeded null", "failed launch_failed"], whole: false },
  launch_answers_error: { ends: ["succeeded null"], whole: true },
  visible_late: { ends: ["succeeded null"], whole: true },
  machine_lost: { ends: ["failed machine_lost"], whole: false, ranges: { lostAfterMs: [120_000, 120_000] } },
  start_slow: { ends: ["succeeded null"], whole: true },
  start_endless: { ends: ["failed launch_failed"], whole: false },
  exit_unreported: { ends: ["timed_out max_runtime"], whole: true },
  listing_empty: { ends: ["succeeded null"], whole: true },
  listing_partial: { ends: ["succeeded null"], whole: true },
  listing_stale: { ends: ["succeeded null"], whole: true },
  listing_fails: { ends: ["succeeded null"], whole: true },
  stop_retries: { ends: ["succeeded null"], whole: true },
  volume_save_fails: { ends: ["succeeded null"], whole: true },
  log_cut: { ends: ["succeeded null"], whole: true },
  log_flood: { ends: ["succeeded null"], whole: false }
}

onPglite("a job survives", (it) => {
  for (const [name, { ends, whole, ranges }] of Object.entries(cases)) {
    const fault = name as CallFault
    it.effect(`${fault}`, () =>
      Effect.gen(function* () {
        for (const seed of [1, 2, 3]) {
          const { reported, outcome } = yield* lived({ [fault]: 1 }, seed, ranges)
          expect(ends).toContain(outcome.end)
          expect(reported.map((strike) => strike.fault)).toContain(fault)
          expect(outcome.problems).toEqual([])
          if (whole) expect(outcome.log).toBe(TEXT)
          else if (fault === "log_flood") expect(outcome.log.endsWith(TEXT)).toBe(true)
          else expect(TEXT.startsWith(outcome.log) || outcome.log === "").toBe(true)
        }
      })
    )
  }

  it.effect("all of them together", () =>
    Effect.gen(function* () {
      const rates = Object.fromEntries(Object.keys(cases).map((fault) => [fault, 0.2]))
      for (let seed = 10; seed < 18; seed++) {
        const { outcome } = yield* lived({ ...rates, log_flood: 0 }, seed)
        expect(outcome.problems).toEqual([])
      }
    })
  )

  it.effect("log_repeated: the log is what the command wrote", () =>
    Effect.gen(function* () {
      const { outcome } = yield* lived({ log_repeated: 1 }, 1)
      expect(outcome.log).toBe(TEXT)
    })
  )

  const cancelledUnseen = (seed: number, options: Partial<Life>) =>
    Effect.gen(function* () {
      const { outcome } = yield* lived({ visible_late: 1 }, seed, { visibleAfterMs: [20_000, 20_000] }, options)
      expect(outcome.end).toBe("cancelled cancelled_by_user")
      expect(outcome.problems).toEqual([])
    })

  it.effect("cancelled before its machine is visible: ended only once that is gone", () =>
    cancelledUnseen(1, { cancelAfterMs: 18_000 })
  )

  // What a launch answered is not yet what a look shows.
  it.effect("the same where the launch had answered that the machine launches", () =>
    cancelledUnseen(2, { cancelAfterMs: 18_000 })
  )

  // The bound of visibility counts from the last time that it was asked for.
  it.effect("the same where the launch was asked for again, long after the first time", () =>
    cancelledUnseen(1, { firstLaunchUnheard: true, downMs: 300_000, cancelAfterMs: 318_000 })
  )
})

interface Life {
  readonly cancelAfterMs: number
  /** The first launch reaches nobody and is answered by an error; then nothing is done for so long. */
  readonly firstLaunchUnheard: boolean
  readonly downMs: number
}

/** One job from its submission to its end under these faults, alone in its world; what it came to and what is wrong. */
const lived = (rates: Partial<FaultRates>, seed: number, ranges?: Partial<FaultRanges>, life: Partial<Life> = {}) => {
  const { faultDraw, reported } = faultDrawOf(rates, seed, { nameOf: () => "job" })
  const floods = new LogFloods({ chance: chance(seed), rates: ratesOf(rates), faultDraw, subjectOf: () => "job" })
  let truth: MachineProviderService | undefined
  const faulted: Faulted = {
    faultDraw,
    world: new FaultyWorld(),
    shell: (inner) => floods.shell(inner),
    truth: (inner) => (truth = inner),
    deaf: life.firstLaunchUnheard ?? false,
    ...(ranges === undefined ? {} : { ranges })
  }
  return Effect.gen(function* () {
    const start = T0 + seed * 24 * HOUR
    yield* TestClock.setTime(start)
    const principal = yield* makeTenant()
    const jobs = yield* Jobs
    const sql = yield* PgClient.PgClient
    const volume = principal.environmentId
    yield* sql.unsafe(
      `insert into volumes (id, workspace_id, environment_id, name, region, size_gb, created_at) values ($1, $2, $1, 'v', 'eu-north', 1, $3)`,
      [volume, principal.workspaceId, new Date(start)]
    )
    const body = { command: COMMAND, gpu_type: "A100", max_runtime_minutes: 30, capacity_wait_minutes: 30 }
    const submitted = yield* Effect.exit(jobs.submit(principal, { ...body, storage_id: volume }))
    const sweep = yield* MachineSweep
    yield* sweep.sweep
    if (life.downMs !== undefined) yield* TestClock.setTime(start + life.downMs)
    if (life.cancelAfterMs !== undefined && submitted._tag === "Success") {
      yield* playUntil(start + life.cancelAfterMs)
      yield* Effect.ignore(jobs.cancel(principal, submitted.value.id))
    }
    // A truth is asked at the moment of the end: the machine of an ended job is gone.
    const problems = yield* playToTheEnd(start, principal, truth!)
    yield* playUntil(start + 6 * HOUR)
    for (let i = 0; i < 12; i++) yield* sweep.sweep
    return { reported, outcome: yield* outcomeOf(principal, problems, truth!) }
  }).pipe(Effect.provide(faultyFleet(faulted), { local: true }))
}

/** Until the job is terminal; then no machine of the world may run or be on its way. */
const playToTheEnd = Effect.fnUntraced(function* (start: number, principal: Principal, truth: MachineProviderService) {
  const sql = yield* PgClient.PgClient
  for (let at = start; at < start + 6 * HOUR;) {
    yield* playUntil(at)
    const rows = yield* sql.unsafe<{ readonly ended_at: Date | null; readonly wake_at: Date | null }>(
      `select ended_at, (select min(least(m.wake_at, j.wake_at)) from machines m where m.id = j.machine_id and m.status not in
         ('stopped', 'failed')) as wake_at from jobs j where workspace_id = $1`,
      [principal.workspaceId]
    )
    if (rows[0]?.ended_at == null) {
      at = Math.max(at + 1, rows[0]?.wake_at?.getTime() ?? 0)
      continue
    }
    const alive = (yield* truth.list).filter(({ state }) => state._tag === "Running" || state._tag === "Launching")
    return alive.map(({ state }) => `ended, and its machine is ${state._tag}`)
  }
  return ["never ended"]
})

const outcomeOf = Effect.fnUntraced(function* (
  principal: Principal,
  seen: ReadonlyArray<string>,
  truth: MachineProviderService
) {
  const sql = yield* PgClient.PgClient
  const jobs = yield* Jobs
  const logs = yield* JobLogs
  const rows = yield* sql.unsafe<{ readonly id: string; readonly cost: bigint | null }>(
    `select id from jobs where workspace_id = $1`,
    [principal.workspaceId]
  )
  const job = yield* jobs.get(principal, rows[0]!.id)
  const events = yield* Effect.flatMap(
    logs.events(principal, job.id, { offset: 0, tail: undefined, follow: false }),
    Stream.runCollect
  )
  const log = Buffer.concat(events.map((event) => (event._tag === "Log" ? event.bytes : new Uint8Array()))).toString()
  const problems: Array<string> = [...seen, ...(yield* auditBooks).map(({ problem }) => problem)]
  const left = yield* sql.unsafe(`select id from holds where state = 'open'`)
  if (left.length > 0) problems.push("a hold is left")
  const open = yield* sql.unsafe(`select id from machines where status not in ('stopped', 'failed')`)
  if (open.length > 0) problems.push("a machine is left")
  const attached = yield* sql.unsafe(`select id from volumes where attached_to is not null`)
  if (attached.length > 0) problems.push("a volume is left attached")
  for (const { state } of yield* truth.list) problems.push(`the world still has a machine, ${state._tag}`)
  return { end: `${job.status} ${job.statusReason}`, log, problems }
})
