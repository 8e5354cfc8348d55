/**
 * Schedules work round robin: callers take turns, and so do the works of one caller. A turn is a time slice that ends
 * with the first step after its length: short work completes in one turn, and a caller waits at most one turn of each
 * other caller.
 */
interface Work<A> {
  readonly id: number
  readonly steps: Iterator<undefined, A>
}

export interface Done<A> {
  readonly id: number
  readonly answer: A
}

export class Rotation<A> {
  readonly #now: () => bigint
  readonly #length: bigint
  /** Callers with work, in the order of their turns. */
  readonly #callers = new Map<string, Array<Work<A>>>()

  /** `now` and `length` of a turn must have the same unit. */
  constructor(now: () => bigint, length: bigint) {
    this.#now = now
    this.#length = length
  }

  get isIdle(): boolean {
    return this.#callers.size === 0
  }

  add(caller: string, work: Work<A>): void {
    const works = this.#callers.get(caller)
    if (works === undefined) this.#callers.set(caller, [work])
    else works.push(work)
  }

  /** Removes work whose caller does not wait for it any more. */
  drop(caller: string, id: number): void {
    const works = this.#callers.get(caller)
    const at = works?.findIndex((work) => work.id === id) ?? -1
    if (works === undefined || at < 0) return
    works.splice(at, 1)
    if (works.length === 0) this.#callers.delete(caller)
  }

  /** Runs the next turn. Returns the result of a work that completed in it. */
  next(): Done<A> | undefined {
    for (const [caller, works] of this.#callers) {
      const work = works.shift()!
      const end = this.#now() + this.#length
      let step = work.steps.next()
      while (step.done !== true && this.#now() < end) step = work.steps.next()
      // The work and its caller go to the end of their queues.
      if (step.done !== true) works.push(work)
      this.#callers.delete(caller)
      if (works.length > 0) this.#callers.set(caller, works)
      return step.done === true ? { id: work.id, answer: step.value } : undefined
    }
    return undefined
  }
}
