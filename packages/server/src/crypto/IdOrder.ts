/**
 * UUIDs of version 7 that begin with their millisecond and their place in it, each after the last one. Lists are sorted by
 * id, so what was made first stands first, on a clock that stands still too.
 */
const PLACES = Array.from({ length: 4_096 }, (_, place) => place.toString(16).padStart(3, "0"))
const VARIANTS = "89ab"

/** Random hexadecimal digits of an id; the first chooses among the four that say its variant. */
export const ID_DIGITS = 16

export class IdOrder {
  /** Twelve digits and the version. */
  private time = ""
  private ms = Number.NEGATIVE_INFINITY
  private count = 0

  /** The next id, not before `now`; where its millisecond is full it goes ahead of the clock. Its digits are taken from `at` on. */
  next(now: number, digits: string, at = 0): string {
    const ms = Math.max(0, Math.trunc(now))
    if (ms > this.ms) this.begin(ms)
    else if (++this.count === PLACES.length) this.begin(this.ms + 1)
    const variant = VARIANTS[Number.parseInt(digits[at]!, 16) & 3]!
    const rest = `${digits.slice(at + 1, at + 4)}-${digits.slice(at + 4, at + ID_DIGITS)}`
    return `${this.time}${PLACES[this.count]!}-${variant}${rest}`
  }

  private begin(ms: number): void {
    const text = ms.toString(16).padStart(12, "0")
    this.time = `${text.slice(0, 8)}-${text.slice(8)}-7`
    this.ms = ms
    this.count = 0
  }
}
