/** The reports say what the run was, hold nothing that the network or a name could turn into code, and fit their page. */
import { assert, describe, it } from "@effect/vitest"
import { htmlReport } from "../../src/report/HtmlReport.ts"
import { packed } from "../../src/report/Lanes.ts"
import { quantile, summaryOf } from "../../src/report/Summary.ts"
import { durationText, textReport } from "../../src/report/TextReport.ts"
import { jsonReport } from "../../src/report/JsonReport.ts"
import fc from "fast-check"
import { broken, machines, outcome } from "./support/Outcomes.ts"

const machine = fc.record({
  from: fc.integer({ min: 0, max: 100 }),
  ms: fc.integer({ min: 0, max: 50 }),
  ran: fc.boolean()
})
describe("Reports", () => {
  it("add up", () => {
    fc.assert(
      fc.property(fc.array(machine, { maxLength: 40 }), (given) => {
        const summary = summaryOf(outcome(machines(given)))
        assert.strictEqual(
          summary.jobsByEnd.reduce((sum, [, count]) => sum + count, 0),
          given.length
        )
        const ms = given.filter(({ ran }) => ran).reduce((sum, one) => sum + one.ms, 0)
        assert.approximately(summary.machineHours, ms / 3_600_000, 1e-9)
        assert.approximately(summary.gpuHours, (2 * ms) / 3_600_000, 1e-9)
        assert.strictEqual(summary.speed, 2)
      })
    )
  })

  it("take the value below which so many are", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer(), { minLength: 1 }),
        fc.double({ min: 0.01, max: 1, noNaN: true }),
        (all, part) => {
          const sorted = [...all].sort((a, b) => a - b)
          const value = quantile(sorted, part)
          assert.isAtLeast(sorted.filter((one) => one <= value).length, Math.ceil(sorted.length * part))
          assert.isBelow(sorted.filter((one) => one < value).length, Math.ceil(sorted.length * part))
        }
      )
    )
  })

  it("put machines on rows that do not overlap, and on no more rows than run at once", () => {
    fc.assert(
      fc.property(fc.array(machine, { maxLength: 40 }), (given) => {
        const placed = packed(machines(given), 200)
        for (const a of placed) {
          for (const b of placed) if (a !== b && a.lane === b.lane) assert.isTrue(a.to <= b.from || b.to <= a.from)
        }
        const atOnce = Math.max(
          0,
          ...placed.map((a) => placed.filter((b) => b.from <= a.from && (b.to > a.from || b === a)).length)
        )
        assert.isAtMost(new Set(placed.map(({ lane }) => lane)).size, atOnce)
      })
    )
  })

  it("say a failure with its seed, its events and how to see it again", () => {
    const text = textReport(broken, "npm run simulate -- --quick --seed 4")
    for (const part of ["BROKEN: I1", "they do not", "seed 4", "step 12", "main.1 starts", "-- --quick --seed 4"]) {
      assert.include(text, part)
    }
  })

  it("count what was asked of models by kind, with its failures", () => {
    const run = outcome(machines([{ from: 1, ms: 5, ran: true }]))
    for (const report of [textReport(run), htmlReport(run)]) {
      assert.include(report, "7 videos (2 failed, 1 left)")
      assert.match(report, /^failed +2 UpstreamFailed$/m)
    }
    assert.strictEqual(jsonReport(run).requests.videos.answered, 4)
    assert.deepStrictEqual(jsonReport(run).chats, { answered: 0, failed: 0, abandoned: 0 })
  })

  it("write the last hour before its line, where there is room", () => {
    const page = htmlReport({ ...outcome([]), virtualMs: 12 * 3_600_000 })
    assert.include(page, `<text x="1160.0" y="10" text-anchor="end">12 h</text>`)
    assert.include(page, `y="10">11 h</text>`)
  })

  it("escape names and ask nothing of the network", () => {
    const page = htmlReport(outcome(machines([{ from: 1, ms: 5, ran: true }]), '<script>alert("x")</script>'))
    assert.notInclude(page, "<script")
    assert.notMatch(page, /(src|href)=|url\(|@import/)
    assert.include(page, "<svg")
  })

  it("say durations as people do", () => {
    assert.deepStrictEqual([400, 65_000, 3_600_000, 90_061_000].map(durationText), ["0.4s", "1m 5s", "1h", "1d 1h"])
  })
})
