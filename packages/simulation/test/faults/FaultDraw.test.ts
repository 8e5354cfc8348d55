/** Faults strike at their rates, by name, the same way each time, and are counted when they take effect. */
import { describe, expect, it } from "@effect/vitest"
import { strikesOf } from "./support/Faults.ts"

describe("Strikes", () => {
  it("strikes at the rate, and reports each strike", () => {
    const { strikes, reported } = strikesOf({ listing_fails: 0.3 })
    let struck = 0
    for (let i = 0; i < 4_000; i++) if (strikes.strikes("listing_fails", "listing")) struck++
    expect(struck).toBeGreaterThan(1_080)
    expect(struck).toBeLessThan(1_320)
    expect(strikes.counts.get("listing_fails")).toBe(struck)
    expect(reported).toHaveLength(struck)
    expect(reported[0]).toEqual({ at: 0, fault: "listing_fails", subject: "listing" })
  })

  it("never strikes at rate 0, always at rate 1", () => {
    const { strikes } = strikesOf({ log_cut: 1 })
    for (let i = 0; i < 100; i++) {
      expect(strikes.strikes("log_cut", `m${i}`)).toBe(true)
      expect(strikes.strikes("log_repeated", `m${i}`)).toBe(false)
    }
  })

  it("draws by name: what others meet changes nothing, another seed does", () => {
    const drawn = (seed: number, others: number) => {
      const { strikes } = strikesOf({ log_cut: 0.5 }, seed)
      for (let i = 0; i < others; i++) strikes.strikes("log_cut", `other ${i % 3}`)
      return Array.from({ length: 64 }, () => strikes.strikes("log_cut", "a"))
    }
    expect(drawn(1, 100)).toEqual(drawn(1, 0))
    expect(drawn(2, 0)).not.toEqual(drawn(1, 0))
  })

  it("names a generated key by what it stands for", () => {
    const drawn = (key: string) => {
      const { strikes, reported } = strikesOf({ log_cut: 0.5 }, 3, { nameOf: () => "job-7" })
      const answers = Array.from({ length: 64 }, () => strikes.strikes("log_cut", key))
      return { answers, reported }
    }
    expect(drawn("0190")).toEqual(drawn("ffff"))
    expect(drawn("0190").reported[0]!.subject).toBe("job-7")
  })

  it("leaves a subject alone after so many times", () => {
    const { strikes } = strikesOf({ stop_retries: 1 })
    expect(Array.from({ length: 5 }, () => strikes.strikes("stop_retries", "a", 3))).toEqual([
      true,
      true,
      true,
      false,
      false
    ])
  })

  it("strikes a subject so many times at most, whenever in its life that is", () => {
    const { strikes } = strikesOf({ log_cut: 0.02 })
    const at = (subject: string) =>
      Array.from({ length: 1_000 }, (_, ask) => ask).filter(() => strikes.strikes("log_cut", subject, 3))
    const lives = Array.from({ length: 20 }, (_, i) => at(`m${i}`))
    expect(lives.map((asks) => asks.length)).toEqual(Array.from({ length: 20 }, () => 3))
    expect(Math.max(...lives.flat())).toBeGreaterThan(100)
    expect(Math.min(...lives.flat())).toBeLessThan(20)
  })

  it("counts what is planned only once it struck", () => {
    const { strikes, reported } = strikesOf({ machine_lost: 1 })
    expect(strikes.planned("machine_lost", "a")).toBe(true)
    expect(reported).toEqual([])
    strikes.struck("machine_lost", "a")
    expect(strikes.counts.get("machine_lost")).toBe(1)
  })
})
