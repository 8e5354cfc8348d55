/**
 * Seeded runs with every fault on, by the hundred: no invariant breaks. `Seeds.test.ts` is the quick part.
 *
 * The same seeds each time, and some that change each day. SLUICE_TEST_RUNS says how many (`SLUICE_TEST_RUNS=100000` takes
 * two days of one core), SLUICE_TEST_SEED which fresh ones come first.
 */
import { openDatabase } from "../../src/database/GuardedDatabase.ts"
import type { SharedDatabase } from "../../src/database/SharedDatabase.ts"
import { simulate } from "../../src/run/Simulation.ts"
import { quickScenario } from "../../src/scenario/Scenarios.ts"
import { textReport } from "../../src/report/TextReport.ts"
import { CALL_FAULTS, PLANNED_FAULTS } from "@sluice/simulator/faults/Fault"
import { REQUEST_KINDS } from "../../src/users/Tally.ts"
import { Effect } from "effect"
import { assert, beforeAll, describe, it } from "vitest"

const USUAL = 40
const RUNS = Number(process.env["SLUICE_TEST_RUNS"] ?? USUAL)
const KNOWN = Math.min(RUNS, 20)
/** Beside them: runs of a minute, half of them fresh, in which a start and an end are never far. */
const BRIEF = RUNS === USUAL ? 180 : 0
const BRIEF_HOURS = 0.02
const FRESH = RUNS - KNOWN
const DAY = Math.floor(performance.timeOrigin / 86_400_000)
const FIRST_FRESH = Number(process.env["SLUICE_TEST_SEED"] ?? DAY * 1_000)
/** Runs of one test: a failure and its seed are seen early. */
const PART = 20
/** Far from the seeds of whole runs. */
const FIRST_BRIEF = 1_000_000_000

let database: SharedDatabase
beforeAll(async () => {
  database = await Effect.runPromise(openDatabase)
})

const run = (seed: number) =>
  simulate(database, { ...quickScenario(seed), ...(seed < FIRST_BRIEF ? {} : { hours: BRIEF_HOURS }) })

const parts = (first: number, count: number) =>
  Array.from({ length: Math.ceil(count / PART) }, (_, i) => ({
    from: first + i * PART,
    to: first + Math.min(count, (i + 1) * PART) - 1
  }))

describe("Seeded runs", () => {
  const struck = new Set<string>()
  const ended = new Set<string>()
  let twins = 0
  let followed = 0
  const brief = [...parts(FIRST_BRIEF, BRIEF / 2), ...parts(FIRST_BRIEF + FIRST_FRESH, BRIEF / 2)]
  for (const { from, to } of [...parts(1, KNOWN), ...parts(FIRST_FRESH, FRESH), ...brief]) {
    it(`break no invariant: seeds ${from} to ${to}`, { timeout: 1_800_000 }, async () => {
      for (let seed = from; seed <= to; seed++) {
        const outcome = await run(seed)
        assert.isNull(outcome.violation, textReport(outcome))
        for (const fault of Object.keys(outcome.struck)) struck.add(fault)
        for (const kind of REQUEST_KINDS) {
          if (outcome.requests[kind].answered > 0) ended.add(`${kind} answered`)
          if (outcome.requests[kind].failed > 0) ended.add(`${kind} failed`)
        }
        twins += outcome.twins
        followed += outcome.followed
      }
    })
  }

  it("struck with every kind of fault", () => {
    const never = [...CALL_FAULTS, ...PLANNED_FAULTS].filter((fault) => !struck.has(fault))
    if (RUNS >= USUAL) assert.deepStrictEqual(never, [])
  })

  it("asked for all that models give, with answers and with failures, and compared what came twice", () => {
    const never = REQUEST_KINDS.flatMap((kind) => [`${kind} answered`, `${kind} failed`]).filter(
      (end) => !ended.has(end)
    )
    if (RUNS >= USUAL) assert.deepStrictEqual(never, [])
    if (RUNS >= USUAL) assert.isAbove(twins, 20)
    if (RUNS >= USUAL) assert.isAbove(followed, 100)
  })
})
