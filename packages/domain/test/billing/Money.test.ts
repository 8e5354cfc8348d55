/** Exact money: its roundings, and the side that each rounding favours (decisions: common rules, Billing). */
import { describe, expect, it } from "@effect/vitest"
import { split } from "@sluice/domain/billing/Ledger"
import { costOf, fromUsd, priceFor, paysForMs, toUsd, usdText } from "@sluice/domain/billing/Money"
import { monthOf, monthStart, nextMonth } from "@sluice/domain/billing/Month"
import fc from "fast-check"

const HOUR_MS = 3_600_000n
const amount = fc.bigInt({ min: 0n, max: 10n ** 15n })
const price = fc.bigInt({ min: 10n ** 6n, max: 10n ** 13n })

describe("Money", () => {
  it("is the same on the wire and back, below zero too, to the nano-USD", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }), (nano) => {
        expect(fromUsd(toUsd(nano))).toBe(nano)
      })
    )
    expect([fromUsd(0.000000001), fromUsd(-0.5), fromUsd(1_000_000)]).toEqual([1n, -500_000_000n, 10n ** 15n])
    expect([toUsd(1n), toUsd(-1n), toUsd(-1_500_000_000n), toUsd(0n)]).toEqual([1e-9, -1e-9, -1.5, 0])
    expect([20n, -1n, -1_500_000_000n, 0n, 12_000_000_000n, 9_200_000_000_123_456_789n].map(usdText)).toEqual([
      "0.00000002",
      "-0.000000001",
      "-1.5",
      "0",
      "12",
      "9200000000.123456789"
    ])
  })

  it("pays for a time whose cost it covers, and for not a millisecond less", () => {
    fc.assert(
      fc.property(price, amount, (perHour, money) => {
        const ms = paysForMs(perHour, money)
        expect(costOf(perHour, ms)).toBeLessThanOrEqual(money)
        expect(perHour * BigInt(ms + 1)).toBeGreaterThan(money * HOUR_MS)
      })
    )
    expect([paysForMs(1n, -5n), paysForMs(1n, 0n), paysForMs(0n, 1n)]).toEqual([0, 0, Number.MAX_SAFE_INTEGER])
  })

  it("rounds the cost of a time down, that of a part up, and never below zero", () => {
    fc.assert(
      fc.property(price, fc.nat(10 ** 9), fc.bigInt({ min: 1n, max: 10n ** 6n }), (each, units, per) => {
        const time = costOf(each, units)
        expect(time * HOUR_MS <= each * BigInt(units) && each * BigInt(units) < (time + 1n) * HOUR_MS).toBe(true)
        const part = priceFor(each, units, per)
        expect((part - 1n) * per < each * BigInt(units) && each * BigInt(units) <= part * per).toBe(true)
      })
    )
    // Clocks of two machines may differ by a moment.
    expect([costOf(HOUR_MS, -1), costOf(HOUR_MS, 0), costOf(HOUR_MS, 1.9), priceFor(2n, 0.1, 1n)]).toEqual([
      0n,
      0n,
      1n,
      2n
    ])
  })
})

describe("A final cost", () => {
  it("is the customer's up to the hold, the operator's beyond, and exact in sum", () => {
    fc.assert(
      fc.property(amount, amount, (cost, hold) => {
        const { charged, writtenOff } = split(cost, hold)
        expect(charged + writtenOff).toBe(cost)
        expect(charged).toBe(cost < hold ? cost : hold)
      })
    )
  })
})

describe("A month", () => {
  it("is that of UTC, from its first millisecond to its last", () => {
    const [first, last] = [Date.UTC(2026, 11, 1), Date.UTC(2026, 11, 31, 23, 59, 59, 999)]
    for (const at of [first, last]) {
      expect([monthOf(at), monthStart(at), nextMonth(at)]).toEqual(["2026-12-01", first, last + 1])
    }
    expect(monthOf(last + 1)).toBe("2027-01-01")
  })
})
