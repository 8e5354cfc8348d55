/**
 * What time is it on the machine? Only `sleep` moves this clock, at once and by itself, so a command of hours is run in
 * milliseconds. Deadlines end what runs at their moment: the run as a whole, `timeout`, a background job.
 */
export interface Deadline {
  readonly at: number
  /** As often it may sleep before; then it is met, wherever the clock is. */
  sleeps: number
  readonly controller: AbortController
}

export class LocalClock {
  now: number
  readonly #deadlines: Array<Deadline> = []

  constructor(now: number) {
    this.now = now
  }

  /** Moves on by `ms`, or only up to the first deadline, which is then met. */
  sleep(ms: number): void {
    const target = this.now + Math.max(0, ms)
    const tired = this.#deadlines.filter((deadline) => (deadline.sleeps -= 1) < 0)
    if (tired.length > 0) {
      for (const { controller } of tired) controller.abort()
      return
    }
    let first: Deadline | undefined
    // Of equal ones the innermost: a `timeout` in a `timeout` ends first.
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

  /** Runs `work` with a deadline; `met` says whether it was reached. */
  async within<A>(
    at: number,
    work: (signal: AbortSignal) => Promise<A>,
    sleeps = Infinity
  ): Promise<{ result: A; met: boolean }> {
    const deadline = { at, sleeps, controller: new AbortController() }
    this.#deadlines.push(deadline)
    try {
      const result = await work(deadline.controller.signal)
      return { result, met: deadline.controller.signal.aborted }
    } finally {
      this.#deadlines.splice(this.#deadlines.indexOf(deadline), 1)
    }
  }
}
