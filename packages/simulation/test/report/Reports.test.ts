/** The reports say what the run was, hold nothing that the network or a name could turn into code, and fit their page. */
import { assert, describe, it } from "@effect/vitest"
import { htmlReport } from "../../src/report/HtmlReport.ts"
import { packed } from "../../src/report/Lanes.ts"
import type { MachineRow } from "../../src/report/Outcome.ts"
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

  it("have an axis that fits, however long the run was", () => {
    for (const [minutes, label] of [
      [0.2, "10 s"],
      [5, "4.5 min"],
      [90, "80 min"],
      [360, "3 h"],
      [30 * 1_440, "day 25"],
      [366 * 1_440, "day 360"]
    ] as const) {
      const page = htmlReport({ ...outcome([]), money: [], virtualMs: minutes * 60_000 })
      assert.match(page, new RegExp(`y="10"[^>]*>${label}</text>`), `${minutes} minutes`)
      assert.isAtMost([...page.matchAll(/class="grid"/g)].length, 2 * 20)
    }
  })

  it("show every fault, those on one pixel as one mark", () => {
    const virtualMs = 30 * 86_400_000
    const strikes = Array.from({ length: 30_000 }, (_, i) => ({
      at: (i / 29_999) * virtualMs,
      fault: i % 3 === 0 ? ("model_429" as const) : ("model_500" as const),
      subject: "x"
    }))
    const page = htmlReport({ ...outcome([]), virtualMs, strikes })
    const marks = [...page.matchAll(/<path d="M(\d+) \d+v10"[^>]*><title>(\d+) model_500, (\d+) model_429<\/title>/g)]
    assert.strictEqual(
      marks.reduce((sum, [, , some, others]) => sum + Number(some) + Number(others), 0),
      strikes.length
    )
    assert.isAtLeast(Math.max(...marks.map(([, x]) => Number(x))), 1_159)
  })

  it("draw all machines of a month, of each type to its end", () => {
    const virtualMs = 30 * 86_400_000
    const rows = Array.from({ length: 43_000 }, (_, i): MachineRow => {
      const runningAt = (i / 43_000) * virtualMs * 0.98
      const stoppedAt = runningAt + 600_000 + ((i * 7_919) % 21_600) * 1_000
      return { id: `m-${i}`, gpuType: ["A100", "H100"][i % 2]!, gpuCount: 1, runningAt, stoppedAt, jobId: `job-${i}` }
    })
    const page = htmlReport({ ...outcome(rows), virtualMs })
    const bars = [...page.matchAll(/<rect x="([\d.]+)"[^>]*><title>(?:(\d+) machines in )?[^<]*<\/title>/g)]
    const drawn = bars.reduce((sum, [, , many]) => sum + Number(many ?? 1), 0)
    // Beside them a time without a server.
    assert.strictEqual(drawn, rows.length + 1)
    assert.isAtMost(bars.length, 20_001)
    assert.include(page, "are one bar")
    assert.notInclude(htmlReport(outcome(machines([{ from: 1, ms: 50, ran: true }]))), "are one bar")
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
