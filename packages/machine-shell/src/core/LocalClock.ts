/**
 * The clock of one run. Only `sleep` moves it, at once, so a command of hours runs in milliseconds. A deadline ends its
 * work at its time: the run as a whole, `timeout`, a background job.
 */
export interface Deadline {
  readonly at: number
  /** Sleeps that are left. At the next sleep after the last one the deadline is met, whatever the time is. */
  sleepsLeft: number
  readonly controller: AbortController
}

export class LocalClock {
  now: number
  readonly #deadlines: Array<Deadline> = []

  constructor(now: number) {
    this.now = now
  }

  /** Moves the clock by `ms`, or only up to the first deadline, which is then met. */
  sleep(ms: number): void {
    const target = this.now + Math.max(0, ms)
    const exhausted = this.#deadlines.filter((deadline) => (deadline.sleepsLeft -= 1) < 0)
    if (exhausted.length > 0) {
      for (const { controller } of exhausted) controller.abort()
      return
    }
    let first: Deadline | undefined
    // Of deadlines at the same time the innermost is met first: a `timeout` within a `timeout`.
    for (const deadline of this.#deadlines) {
      if (deadline.at <= target && (first === undefined || deadline.at <= first.at)) first = deadline
    }
    if (first === undefined) {
      this.now = target
      return
    }
    this.now = Math.max(this.now, first.at)
    first.controller.abort()
  }

  /**
   * Runs `work` with a deadline at the time `at`, or after `sleepsLeft` sleeps. Returns its result, and whether the
   * deadline was met.
   */
  async runUntil<A>(
    at: number,
    work: (signal: AbortSignal) => Promise<A>,
    sleepsLeft = Infinity
  ): Promise<{ result: A; isMet: boolean }> {
    const deadline = { at, sleepsLeft, controller: new AbortController() }
    this.#deadlines.push(deadline)
    try {
      const result = await work(deadline.controller.signal)
      return { result, isMet: deadline.controller.signal.aborted }
    } finally {
      this.#deadlines.splice(this.#deadlines.indexOf(deadline), 1)
    }
  }
}
