/**
 * Makes UUIDs of version 7 that start with their millisecond and a counter within it, so each id sorts after the one
 * before. Lists sorted by id are in order of creation, also on a clock that stands still.
 */
const COUNTERS = Array.from({ length: 4_096 }, (_, count) => count.toString(16).padStart(3, "0"))
const VARIANTS = "89ab"

/** Random hexadecimal digits that one id takes. The first one selects among the four values of the variant. */
export const ID_DIGITS = 16

export class IdOrder {
  /** The first twelve digits and the version, as text. */
  private time = ""
  private ms = Number.NEGATIVE_INFINITY
  private count = 0

  /**
   * Returns the next id, for `now` or later: when a millisecond's counters are used up, the id takes the next
   * millisecond. `digits` holds the random digits, from `at` on.
   */
  next(now: number, digits: string, at = 0): string {
    const ms = Math.max(0, Math.trunc(now))
    if (ms > this.ms) this.begin(ms)
    else if (++this.count === COUNTERS.length) this.begin(this.ms + 1)
    const variant = VARIANTS[Number.parseInt(digits[at]!, 16) & 3]!
    const rest = `${digits.slice(at + 1, at + 4)}-${digits.slice(at + 4, at + ID_DIGITS)}`
    return `${this.time}${COUNTERS[this.count]!}-${variant}${rest}`
  }

  private begin(ms: number): void {
    const text = ms.toString(16).padStart(12, "0")
    this.time = `${text.slice(0, 8)}-${text.slice(8)}-7`
    this.ms = ms
    this.count = 0
  }
}
