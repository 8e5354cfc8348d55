/**
 * For how long machines have been looked for in vain, on the clock that does not jump: a wall clock that is set ahead must
 * not make a machine that is only not visible yet look gone.
 *
 * It lives with the process. One that starts anew, or another replica, begins to count again, which only makes it wait longer;
 * and an absence that another replica saw end and begin anew is another one.
 */

/** Machines counted at most; the one counted for longest is forgotten first, and counted again. */
const MAX_KEYS = 10_000

interface Absence {
  /** The wall clock's moment of its first look in vain, as its row has it: another one is another absence. */
  readonly since: number
  readonly countedFrom: number
}

export class MissingSince {
  private readonly absences = new Map<string, Absence>()
  private readonly monotonicMs: () => number
  private readonly most: number

  constructor(monotonicMs: () => number, most = MAX_KEYS) {
    this.monotonicMs = monotonicMs
    this.most = most
  }

  /** Milliseconds since the first look of this process in vain; `since`: of the machine's absence, as its row has it. */
  missing(key: string, since: number): number {
    const now = this.monotonicMs()
    const known = this.absences.get(key)
    if (known?.since === since) return now - known.countedFrom
    this.forget(key)
    if (this.absences.size >= this.most) this.absences.delete(this.absences.keys().next().value!)
    this.absences.set(key, { since, countedFrom: now })
    return 0
  }

  /** It was seen, or is of no more interest. */
  forget(key: string): void {
    this.absences.delete(key)
  }
}
