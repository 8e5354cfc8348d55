/** The window memory of one process: it keeps the newer of two records in any order, within a bound on the number of keys. */
import { describe, expect, it } from "@effect/vitest"
import { WINDOW_MS } from "@sluice/domain/limits/RateLimit"
import { MAX_KEYS, Windows } from "@sluice/domain/limits/Windows"
import fc from "fast-check"

const window = fc.record({ startMs: fc.constantFrom(0, 10_000, WINDOW_MS), used: fc.nat(3) })

describe("Windows", () => {
  it("keeps the newest record, in any order of arrival", () => {
    fc.assert(
      fc.property(fc.array(window, { minLength: 1, maxLength: 8 }), (learnt) => {
        const windows = new Windows()
        for (const one of learnt) windows.learn("key", one, 0)
        const newest = [...learnt].sort((a, b) => a.startMs - b.startMs || a.used - b.used).at(-1)
        expect(windows.get("key")).toEqual(newest)
      })
    )
  })

  it("counts on from a received record until its window ends", () => {
    const windows = new Windows()
    windows.learn("key", { startMs: 1_000, used: 2 }, 1_500)
    expect(windows.consume("key", 3, 2_000)).toMatchObject({ admitted: true, remaining: 0, resetSeconds: 61 })
    expect(windows.consume("key", 3, 2_000).admitted).toBe(false)
    expect(windows.consume("key", 3, 1_000 + WINDOW_MS)).toMatchObject({ admitted: true, remaining: 2 })
  })

  it("evicts ended windows, and the oldest beyond its bound", () => {
    const windows = new Windows()
    for (let i = 0; i < 10; i++) windows.consume(`old ${i}`, 1, 0)
    windows.consume("new", 1, WINDOW_MS)
    expect(windows.get("old 0")).toBeUndefined()
    for (let i = 0; i < MAX_KEYS; i++) windows.consume(`key ${i}`, 1, WINDOW_MS)
    expect(windows.get("new")).toBeUndefined()
    expect(windows.get("key 0")).toBeDefined()
  })

  it("evicts ended windows behind a key that was used again", () => {
    const windows = new Windows()
    windows.consume("regular", 1, 0)
    windows.consume("once", 1, 1)
    windows.consume("regular", 1, WINDOW_MS)
    windows.consume("new", 1, WINDOW_MS + 1)
    expect(windows.get("once")).toBeUndefined()
    expect(windows.get("regular")).toBeDefined()
  })
})
