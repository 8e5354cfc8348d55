/** Metric families: one series per label set, a bounded number of series, and none without a scraper. */
import { assert, describe, it } from "@effect/vitest"
import { families, MAX_SERIES, SECONDS } from "@sluice/domain/metrics/Family"
import { Metrics } from "@sluice/domain/metrics/Metrics"
import { Effect } from "effect"

describe("A family", () => {
  it("returns the same series for the same labels, and another one for others", () => {
    const family = families(true).counter("sluice_some_total", ["a", "b"], "Some.")
    family.of("x", "y").add()
    family.of("x", "y").add(2)
    family.of("x,y", "").add()
    assert.deepStrictEqual(
      [...family.all].map(({ content, values }) => [...values, content.value]),
      [
        ["x", "y", 3],
        ["x,y", "", 1]
      ]
    )
    family.clear()
    assert.strictEqual([...family.all].length, 0)
  })

  it("keeps a bounded number of series, and counts on in those", () => {
    const family = families(true).counter("sluice_some_total", ["a"], "Some.")
    for (let i = 0; i < MAX_SERIES + 100; i++) family.of(String(i)).add()
    family.of("0").add()
    assert.strictEqual([...family.all].length, MAX_SERIES)
    assert.strictEqual([...family.all][0]!.content.value, 2)
  })

  it("counts a value on a bound in the bucket below", () => {
    const histogram = families(true).seconds("sluice_some_seconds", [], "Some.").of()
    histogram.record(SECONDS[1]!)
    histogram.record(SECONDS.at(-1)! + 1)
    assert.strictEqual(histogram.counts[1], 1)
    assert.strictEqual(histogram.counts.at(-1), 1)
  })

  it.effect("keeps nothing without a scraper", () =>
    Effect.gen(function* () {
      const metrics = yield* Metrics
      for (let i = 0; i < 10; i++) metrics.jobsEnded.of(`status ${i}`).add()
      assert.deepStrictEqual([...metrics.jobsEnded.all], [])
    })
  )
})
