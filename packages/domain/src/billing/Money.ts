/**
 * Money: integer nano-USD (`bigint`) inside, USD numbers with at most nine decimals on the wire. No float enters a sum.
 * A balance reaches at most 9.2 billion USD, the range of int8.
 */

/** Integer nano-USD: 1 USD = 1_000_000_000n. */
export type NanoUsd = bigint

export const NANO_PER_USD = 1_000_000_000n
const MS_PER_HOUR = 3_600_000n

/** Returns a USD number of the wire in nano-USD, rounded to the nearest. */
export const fromUsd = (usd: number): NanoUsd => {
  const text = usd.toFixed(9)
  const negative = text.startsWith("-")
  const [whole = "0", fraction = ""] = text.replace("-", "").split(".")
  const nano = BigInt(whole) * NANO_PER_USD + BigInt(fraction.padEnd(9, "0"))
  return negative ? -nano : nano
}

/** Returns the USD number of an amount for the wire; exact to the nano-USD up to 15 digits. */
export const toUsd = (nano: NanoUsd): number => {
  const absolute = nano < 0n ? -nano : nano
  const value = Number(`${absolute / NANO_PER_USD}.${(absolute % NANO_PER_USD).toString().padStart(9, "0")}`)
  return nano < 0n ? -value : value
}

/** Returns the USD text of an amount for people: plain decimals, never an exponent. */
export const usdText = (nano: NanoUsd): string => {
  const absolute = nano < 0n ? -nano : nano
  const fraction = (absolute % NANO_PER_USD).toString().padStart(9, "0").replace(/0+$/, "")
  return `${nano < 0n ? "-" : ""}${absolute / NANO_PER_USD}${fraction === "" ? "" : `.${fraction}`}`
}

/** Returns the cost of a machine that ran for `ms` at `perHour` (nano-USD an hour), rounded down to the nano-USD. */
export const costOf = (perHour: NanoUsd, ms: number): NanoUsd =>
  ms <= 0 ? 0n : (perHour * BigInt(Math.floor(ms))) / MS_PER_HOUR

/** Returns the quotient, rounded up. */
export const ceilDiv = (total: bigint, per: bigint): bigint => (total + per - 1n) / per

/** Returns the cost of `units` at `price` for `per` units, rounded up to the nano-USD. */
export const priceFor = (price: NanoUsd, units: number, per: bigint): NanoUsd =>
  ceilDiv(price * BigInt(Math.ceil(units)), per)

/**
 * Returns for how many whole milliseconds `amount` pays at `perHour`: the cost exceeds `amount` only after them.
 * `MAX_SAFE_INTEGER` if the machine is free.
 */
export const paysForMs = (perHour: NanoUsd, amount: NanoUsd): number =>
  perHour <= 0n ? Number.MAX_SAFE_INTEGER : amount <= 0n ? 0 : Number((amount * MS_PER_HOUR) / perHour)
