/**
 * For how long machines have been looked for in vain, on the clock that does not jump: a wall clock that is set ahead must
 * not make a machine that is only not visible yet look gone.
 *
 * It lives with the process. One that starts anew, or another replica, begins to count again, which only makes it wait longer.
 */
/** Machines counted at most; the one counted for longest is forgotten first, and counted again. */
const MOST = 10_000

export class Absences {
  private readonly since = new Map<string, number>()
  private readonly monotonicMs: () => number
  private readonly most: number

  constructor(monotonicMs: () => number, most = MOST) {
    this.monotonicMs = monotonicMs
    this.most = most
  }

  /** Milliseconds since the first of the looks in a row that did not find it; zero when this is the first of them. */
  missing(key: string, isFirst: boolean): number {
    const now = this.monotonicMs()
    const since = isFirst ? undefined : this.since.get(key)
    if (since !== undefined) return now - since
    this.found(key)
    if (this.since.size >= this.most) this.since.delete(this.since.keys().next().value!)
    this.since.set(key, now)
    return 0
  }

  /** It was seen, or is of no more interest. */
  found(key: string): void {
    this.since.delete(key)
  }
}
