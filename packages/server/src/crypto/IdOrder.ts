/**
 * How UUIDs of version 7 begin: with their millisecond and their place in it, each after the last one. Lists are sorted by id,
 * so what was made first stands first, on a clock that stands still too.
 */
const PLACES = Array.from({ length: 4_096 }, (_, place) => place.toString(16).padStart(3, "0"))

export class IdOrder {
  /** Twelve digits and the version. */
  time = ""
  /** The three digits after it. */
  place = ""
  private ms = Number.NEGATIVE_INFINITY
  private count = 0

  /** The next one, not before `now`; where its millisecond is full it goes ahead of the clock. */
  next(now: number): void {
    const ms = Math.max(0, Math.trunc(now))
    if (ms > this.ms) this.begin(ms)
    else if (++this.count === PLACES.length) this.begin(this.ms + 1)
    this.place = PLACES[this.count]!
  }

  private begin(ms: number): void {
    const text = ms.toString(16).padStart(12, "0")
    this.time = `${text.slice(0, 8)}-${text.slice(8)}-7`
    this.ms = ms
    this.count = 0
  }
}
