/**
 * Measures how long each machine has been missing at its provider, on the monotonic clock. If the wall clock is set
 * ahead, a machine that is only not visible yet must not count as gone.
 *
 * The state is kept in memory. A new process or another replica counts from 0, so it only waits longer. If another
 * replica saw the machine in between, the row has a new `since`, and counting starts again.
 */

/**
 * Maximum machines. Above it the machine that has been missing for longest is dropped, and counted from 0 when it is
 * next looked for.
 */
const MAX_KEYS = 10_000

interface Absence {
  /**
   * The wall clock time of the first failed look, as the machine's row has it (ms). Another value is another absence.
   */
  readonly since: number
  readonly countedFrom: number
}

export class MissingSince {
  private readonly absences = new Map<string, Absence>()
  private readonly monotonicMs: () => number
  private readonly maxKeys: number

  constructor(monotonicMs: () => number, maxKeys = MAX_KEYS) {
    this.monotonicMs = monotonicMs
    this.maxKeys = maxKeys
  }

  /**
   * Returns the milliseconds since this process first missed the machine. `since`: the start of the absence in the
   * machine's row.
   */
  missingMs(key: string, since: number): number {
    const now = this.monotonicMs()
    const absence = this.absences.get(key)
    if (absence?.since === since) return now - absence.countedFrom
    this.forget(key)
    if (this.absences.size >= this.maxKeys) this.absences.delete(this.absences.keys().next().value!)
    this.absences.set(key, { since, countedFrom: now })
    return 0
  }

  /** Forgets a machine that was seen, or that is gone. */
  forget(key: string): void {
    this.absences.delete(key)
  }
}
