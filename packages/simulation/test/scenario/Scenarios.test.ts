/** A scenario is taken whole or refused with everything that is wrong in it; plans follow from their seeds. */
import { assert, describe, it } from "@effect/vitest"
import { planOf } from "../../src/plan/PlanOf.ts"
import { decodeScenario, defaultScenario, quickScenario, scenarioJsonSchema } from "../../src/scenario/Scenarios.ts"
import { Effect, Exit, Schema } from "effect"
import { Plan } from "../../src/plan/Plan.ts"
import fc from "fast-check"
import { misfit, type Schema as JsonSchema } from "../../../../test/fuzz/JsonSchema.ts"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const TENANT = { name: "workspace-1", creditUsd: 5, monthlyBudgetUsd: null }
const JUMP = { _tag: "ClockJump", id: "jump-1", at: 5, byMs: 5 }
const SUBMIT = {
  ...planOf(quickScenario(1)).items.find((item) => item._tag === "Submit")!,
  workspace: TENANT.name
}

const seeds = fc.integer({ min: 0, max: 1_000_000 })

describe("Scenario", () => {
  it.effect("takes what is given and fills in the rest", () =>
    Effect.gen(function* () {
      const given = { seed: 7, gpus: 64, faults: { machine_lost: 0.5 } }
      const scenario = yield* decodeScenario({ $schema: "../scenario.schema.json", ...given })
      assert.deepStrictEqual(scenario, yield* decodeScenario(given))
      assert.strictEqual(scenario.gpus, 64)
      assert.strictEqual(scenario.faults.machine_lost, 0.5)
      assert.strictEqual(scenario.faults.launch_refused, 0)
      assert.deepStrictEqual(scenario.jobMinutes, defaultScenario(7).jobMinutes)
      const again = yield* decodeScenario(
        JSON.parse(JSON.stringify({ ...quickScenario(3), plan: planOf(quickScenario(3)) }))
      )
      assert.deepStrictEqual(again.plan, planOf(quickScenario(3)))
    })
  )

  it.effect("takes one that was written before there were tools, videos and the rest", () =>
    Effect.gen(function* () {
      const at = { at: 5, workspace: "workspace-1" }
      const chat = {
        _tag: "Chat" as const,
        id: "chat-1",
        ...at,
        promptWords: 3,
        maxTokens: 5,
        streamed: true,
        hangUpAfterMs: null
      }
      const tenants = [{ name: "workspace-1", creditUsd: 5, monthlyBudgetUsd: null }]
      const scenario = yield* decodeScenario({ shares: { hangUps: 0.5 }, plan: { tenants, items: [chat] } })
      assert.deepStrictEqual(scenario.plan?.items, [chat])
      assert.strictEqual(scenario.shares.twins, defaultScenario(0).shares.twins)
    })
  )

  it.effect("names everything that is wrong", () =>
    Effect.gen(function* () {
      const wrong = { seed: -1, gpus: "many", speed: 3, faults: { machine_lost: 2, gremlins: 1 }, $schema: 1 }
      const turned = { jobMinutes: [600, 5], databaseMs: [20, 1] }
      const { issues } = yield* Effect.flip(decodeScenario({ ...wrong, ...turned }))
      const paths = issues.map((issue) => issue.path)
      for (const path of [
        "$schema",
        "seed",
        "gpus",
        "speed",
        "jobMinutes",
        "databaseMs",
        "faults.machine_lost",
        "faults.gremlins"
      ]) {
        assert.include(paths, path)
      }
      assert.strictEqual((yield* Effect.flip(decodeScenario([]))).issues.length, 1)
    })
  )

  it.effect("lets the database fail as often as the service can bear", () =>
    Effect.gen(function* () {
      const most = { database_lost: 0.05, database_serialization: 0.03, database_slow: 0.02 }
      assert.deepInclude((yield* decodeScenario({ faults: { ...most, machine_lost: 1 } })).faults, most)
      const { issues } = yield* Effect.flip(decodeScenario({ faults: { ...most, database_slow: 0.03 } }))
      assert.deepStrictEqual(issues, [
        {
          path: "faults",
          message:
            "database_lost, database_serialization, database_slow together must be 0.1 at most: nothing is done in its time where more statements fail"
        }
      ])
    })
  )

  it.effect("names each fault of a plan that could not be played", () =>
    Effect.gen(function* () {
      const tenants = [TENANT, TENANT]
      const items = [
        { ...JUMP, byMs: 9e15 },
        { _tag: "RotateKey", id: "key-1", at: 5, workspace: "nobody" },
        { ...SUBMIT, id: "key-1", outputBytes: 9e15 }
      ]
      const bounds = yield* Effect.flip(decodeScenario({ plan: { tenants, items } }))
      assert.deepStrictEqual(
        bounds.issues.map(({ path }) => path),
        ["plan.items.0.byMs", "plan.items.2.outputBytes"]
      )
      const within = [{ ...JUMP, byMs: -1 }, items[1], { ...SUBMIT, id: "key-1" }]
      assert.deepStrictEqual((yield* Effect.flip(decodeScenario({ plan: { tenants, items: within } }))).issues, [
        { path: "plan.tenants.1.name", message: "is that of tenants.0 too" },
        { path: "plan.items.2.id", message: "is that of items.1 too" },
        { path: "plan.items.1.workspace", message: "nobody is none of the tenants" }
      ])
    })
  )

  it.effect("is in every file of the folder of scenarios", () =>
    Effect.gen(function* () {
      const folder = join(import.meta.dirname, "../../scenarios")
      for (const file of readdirSync(folder)) {
        const scenario = yield* decodeScenario(JSON.parse(readFileSync(join(folder, file), "utf8")))
        assert.isAbove(Object.values(scenario.faults).filter((rate) => rate > 0).length, 20, file)
      }
    })
  )

  it.effect("is refused by its JSON Schema where it is by the loader", () =>
    Effect.gen(function* () {
      const { $defs: _, $schema: __, ...rest } = scenarioJsonSchema() as Record<string, unknown>
      const schema = rest as JsonSchema
      const tenants = [TENANT]
      const items = [JUMP, SUBMIT]
      const cases: ReadonlyArray<readonly [scenario: unknown, fits: boolean]> = [
        [{ $schema: "x", seed: 3, faults: { machine_lost: 1 }, shares: {}, plan: { tenants, items } }, true],
        [{ speed: 1 }, false],
        [{ faults: { machine_losst: 1 } }, false],
        [{ shares: { cancel: 1 } }, false],
        [{ plan: { tenants, items, more: [] } }, false],
        [{ plan: { tenants: [{ ...TENANT, owner: "me" }], items } }, false],
        [{ plan: { tenants, items: [{ ...JUMP, byHours: 1 }] } }, false],
        [{ plan: { tenants: [{ ...TENANT, name: "A B" }], items: [] } }, false],
        [{ plan: { tenants, items: [{ ...JUMP, id: "JUMP" }] } }, false]
      ]
      for (const [scenario, fits] of cases) {
        assert.strictEqual(misfit(scenario, schema, {}) === undefined, fits, JSON.stringify(scenario))
        assert.strictEqual(Exit.isSuccess(yield* Effect.exit(decodeScenario(scenario))), fits, JSON.stringify(scenario))
      }
    })
  )

  it("has a published JSON Schema", () => {
    const file = join(import.meta.dirname, "..", "..", "scenario.schema.json")
    // To renew it: SLUICE_WRITE_SCHEMA=1 npm test -- packages/simulation/test/scenario
    if (process.env["SLUICE_WRITE_SCHEMA"] === "1") {
      writeFileSync(file, `${JSON.stringify(scenarioJsonSchema(), null, 2)}\n`)
    }
    assert.deepStrictEqual(JSON.parse(readFileSync(file, "utf8")), JSON.parse(JSON.stringify(scenarioJsonSchema())))
  })
})

describe("Plan", () => {
  it("follows from the seed, is in order, and names each item once", () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const plan = planOf(quickScenario(seed))
        assert.deepStrictEqual(plan, planOf(quickScenario(seed)))
        assert.notDeepEqual(plan, planOf(quickScenario(seed + 1)))
        assert.strictEqual(new Set(plan.items.map((item) => item.id)).size, plan.items.length)
        plan.items.forEach((item, i) => assert.isTrue(i === 0 || plan.items[i - 1]!.at <= item.at))
        Schema.decodeSync(Plan)(plan)
      }),
      { numRuns: 30 }
    )
  })

  it("leaves items as they are when others come", () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const quick = quickScenario(seed)
        const more = planOf({
          ...quick,
          chatsPerHour: quick.chatsPerHour * 3,
          faults: { ...quick.faults, server_killed: 60 }
        })
        const jobs = (items: Plan["items"]) => items.filter((item) => item._tag === "Submit")
        assert.deepStrictEqual(jobs(more.items), jobs(planOf(quick).items))
      }),
      { numRuns: 30 }
    )
  })
})
