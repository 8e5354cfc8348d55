/** The choice among upstreams: never one that may not be asked, always one that may, and each as often as it weighs. */
import { describe, expect, it } from "@effect/vitest"
import { choose } from "@sluice/providers/openai-compatible/upstream/Choice"
import fc from "fast-check"

const candidates = fc.array(fc.record({ weight: fc.integer({ min: 1, max: 1_000 }), usable: fc.boolean() }), {
  maxLength: 20
})
const drawn = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

describe("choose", () => {
  it("gives one that may be asked, whenever there is one", () => {
    fc.assert(
      fc.property(candidates, drawn, (all, draw) => {
        const at = choose(all, draw)
        expect(at === undefined).toBe(all.every(({ usable }) => !usable))
        if (at !== undefined) expect(all[at]?.usable).toBe(true)
      })
    )
  })

  it("gives each its share of all draws", () => {
    fc.assert(
      fc.property(candidates, (all) => {
        const usable = all.filter((one) => one.usable)
        const total = usable.reduce((sum, { weight }) => sum + weight, 0)
        const DRAWS = 500
        const counts = all.map(() => 0)
        for (let i = 0; i < DRAWS; i++) {
          const at = choose(all, i / DRAWS)
          if (at !== undefined) counts[at]!++
        }
        for (const [at, { usable, weight }] of all.entries()) {
          const share = usable ? (DRAWS * weight) / total : 0
          // Draws are a grid: a share is met to a draw at each of its ends.
          expect(Math.abs(counts[at]! - share)).toBeLessThanOrEqual(1.001)
        }
      })
    )
  })
})
