/** What is not needed for a failure goes: items of every kind, and of those that stay what they can do without. */
import { assert, describe, it } from "@effect/vitest"
import { planOf } from "../../src/plan/PlanOf.ts"
import type { PlanItem } from "../../src/plan/Plan.ts"
import { decodeScenario, quickScenario } from "../../src/scenario/Scenarios.ts"
import { Effect } from "effect"
import { type Planned, shrink } from "../../src/shrink/Shrink.ts"

const scenario = (seed: number): Planned => {
  const quick = { ...quickScenario(seed), videosPerHour: 100, chatsPerHour: 100, embeddingsPerHour: 100 }
  return { ...quick, plan: planOf(quick) }
}

/** Fails for as long as an item of this kind is there. */
const shrunkTo = (kind: PlanItem["_tag"]) =>
  shrink(scenario(1), {
    budget: 500,
    fails: (one) => Promise.resolve(one.plan.items.some((item) => item._tag === kind))
  })

describe("Shrinking", () => {
  for (const [kind, plain] of [
    ["Film", { lookEveryMs: null, downloads: 0, deletes: "never" }],
    ["Ask", { hangUpAfterMs: null, words: 1, count: 1 }],
    ["Chat", { hangUpAfterMs: null, twin: false, crowd: 0, tools: false, asResponse: false }]
  ] as const) {
    it(`leaves one plain ${kind} where that is enough`, async () => {
      const { scenario: small } = await shrunkTo(kind)
      const whole = scenario(1).plan.items.find(({ id }) => id === small.plan.items[0]?.id)
      assert.deepStrictEqual(
        small.plan.items.map((item) => item._tag),
        [kind]
      )
      assert.strictEqual(small.plan.tenants.length, 1)
      assert.deepInclude(small.plan.items[0], { ...plain, at: Math.floor(whole!.at / 2) })
    })
  }

  it("halves times beyond the 32 bits of a month", async () => {
    const job = scenario(1).plan.items.find((item) => item._tag === "Submit")!
    const [at, runMs] = [2_500_000_001, 2_400_000_000]
    const late: Planned = { ...scenario(1), plan: { ...scenario(1).plan, items: [{ ...job, at, runMs }] } }
    const fails = (one: Planned) => Promise.resolve(one.plan.items.length === 1)
    const { scenario: small } = await shrink(late, { budget: 100, fails })
    assert.deepInclude(small.plan.items[0], { at: 1_250_000_000, runMs: 1_200_000_000 })
    assert.strictEqual((await Effect.runPromise(decodeScenario(small))).plan?.items.length, 1)
  })
})
