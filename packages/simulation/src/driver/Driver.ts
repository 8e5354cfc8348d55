/**
 * Moves virtual time: everything that can run runs, and only when nothing can does the clock go to the next timer. One
 * timer fires at a time, so the order of all that happens follows from the seed alone.
 *
 * Nothing may wait for the real world: the database is called synchronously, and what is not (a shell that awaits) only
 * needs microtasks, which a turn of the real event loop runs.
 */
import { type Timer, Timers } from "./Timers.ts"

/** Why a run stopped. `Idle`: nothing will ever happen again. */
export type Stop = "Done" | "Idle" | "Until"

const ALWAYS = () => true

export class Driver {
  /** Milliseconds of virtual time since the start. */
  now = 0
  /** Timers fired so far. */
  steps = 0
  protected readonly timers = new Timers()
  protected ready: Array<() => void> = []
  protected readonly realTurn: (resume: () => void) => void

  constructor() {
    // Kept from before a run replaces the globals.
    this.realTurn = globalThis.setImmediate
  }

  /** Runs the task as soon as what is ready before it has run. */
  enqueue(task: () => void): void {
    this.ready.push(task)
  }

  at(at: number, fire: () => void, alive: () => boolean = ALWAYS): Timer {
    return this.timers.add(Math.max(at, this.now), fire, alive)
  }

  after(ms: number, fire: () => void, alive: () => boolean = ALWAYS): Timer {
    return this.at(this.now + ms, fire, alive)
  }

  /** `quiet` is called whenever nothing can run before time moves on; it may end the run by answering true. */
  async run(quiet: () => boolean | Promise<boolean>, until = Number.POSITIVE_INFINITY): Promise<Stop> {
    for (;;) {
      await this.settle()
      const stop = quiet()
      if (typeof stop === "boolean" ? stop : await stop) return "Done"
      if (this.ready.length > 0) continue
      const next = this.timers.next()
      if (next === Number.POSITIVE_INFINITY) return "Idle"
      if (next > until) return "Until"
      this.step()
    }
  }

  /** Moves to the next timer and fires it. */
  protected step(): void {
    const timer = this.timers.take()!
    if (timer.at > this.now) this.now = timer.at
    this.steps++
    timer.fire?.()
  }

  /** Until nothing can run: a turn of the event loop after the queue is empty runs microtasks and stream callbacks. */
  protected async settle(): Promise<void> {
    for (;;) {
      this.drain()
      await new Promise<void>((resume) => this.realTurn(resume))
      if (this.ready.length === 0) return
    }
  }

  protected drain(): void {
    while (this.ready.length > 0) {
      const tasks = this.ready
      this.ready = []
      for (const task of tasks) task()
    }
  }
}
