/** Faults apply at their rates, by name, in the same way each time, and are counted when they take effect. */
import { describe, expect, it } from "@effect/vitest"
import { faultDrawOf } from "./support/Faults.ts"

describe("a fault draw", () => {
  it("applies a fault at its rate, and reports each application", () => {
    const { faultDraw, reported } = faultDrawOf({ listing_fails: 0.3 })
    let applied = 0
    for (let i = 0; i < 4_000; i++) if (faultDraw.applies("listing_fails", "listing")) applied++
    expect(applied).toBeGreaterThan(1_080)
    expect(applied).toBeLessThan(1_320)
    expect(faultDraw.counts.get("listing_fails")).toBe(applied)
    expect(reported).toHaveLength(applied)
    expect(reported[0]).toEqual({ at: 0, fault: "listing_fails", subject: "listing" })
  })

  it("never applies a fault at rate 0, and always at rate 1", () => {
    const { faultDraw } = faultDrawOf({ log_cut: 1 })
    for (let i = 0; i < 100; i++) {
      expect(faultDraw.applies("log_cut", `m${i}`)).toBe(true)
      expect(faultDraw.applies("log_repeated", `m${i}`)).toBe(false)
    }
  })

  it("draws by name: other subjects change nothing, and another seed does", () => {
    const drawn = (seed: number, others: number) => {
      const { faultDraw } = faultDrawOf({ log_cut: 0.5 }, seed)
      for (let i = 0; i < others; i++) faultDraw.applies("log_cut", `other ${i % 3}`)
      return Array.from({ length: 64 }, () => faultDraw.applies("log_cut", "a"))
    }
    expect(drawn(1, 100)).toEqual(drawn(1, 0))
    expect(drawn(2, 0)).not.toEqual(drawn(1, 0))
  })

  it("draws by the stable name of a generated key", () => {
    const drawn = (key: string) => {
      const { faultDraw, reported } = faultDrawOf({ log_cut: 0.5 }, 3, { nameOf: () => "job-7" })
      const answers = Array.from({ length: 64 }, () => faultDraw.applies("log_cut", key))
      return { answers, reported }
    }
    expect(drawn("0190")).toEqual(drawn("ffff"))
    expect(drawn("0190").reported[0]!.subject).toBe("job-7")
  })

  it("applies a fault to a subject at most max times", () => {
    const { faultDraw } = faultDrawOf({ stop_retries: 1 })
    expect(Array.from({ length: 5 }, () => faultDraw.applies("stop_retries", "a", 3))).toEqual([
      true,
      true,
      true,
      false,
      false
    ])
  })

  it("applies a rare fault at most max times, at any time of a subject's life", () => {
    const { faultDraw } = faultDrawOf({ log_cut: 0.02 })
    const at = (subject: string) =>
      Array.from({ length: 1_000 }, (_, ask) => ask).filter(() => faultDraw.applies("log_cut", subject, 3))
    const lives = Array.from({ length: 20 }, (_, i) => at(`m${i}`))
    expect(lives.map((asks) => asks.length)).toEqual(Array.from({ length: 20 }, () => 3))
    expect(Math.max(...lives.flat())).toBeGreaterThan(100)
    expect(Math.min(...lives.flat())).toBeLessThan(20)
  })

  it("counts a planned fault only when it takes effect", () => {
    const { faultDraw, reported } = faultDrawOf({ machine_lost: 1 })
    expect(faultDraw.plan("machine_lost", "a")).toBe(true)
    expect(reported).toEqual([])
    faultDraw.markApplied("machine_lost", "a")
    expect(faultDraw.counts.get("machine_lost")).toBe(1)
  })
})
