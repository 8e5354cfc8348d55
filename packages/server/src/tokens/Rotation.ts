/**
 * Schedules work round robin: callers take turns, and the work items of one caller take turns too. A turn is a time
 * slice that ends with the first step after its length: short work completes in one turn, and a caller waits at most
 * one turn of each other caller.
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
    const items = this.#callers.get(caller)
    if (items === undefined) this.#callers.set(caller, [work])
    else items.push(work)
  }

  /** Removes work whose caller does not wait for it any more. */
  drop(caller: string, id: number): void {
    const items = this.#callers.get(caller)
    const at = items?.findIndex((work) => work.id === id) ?? -1
    if (items === undefined || at < 0) return
    items.splice(at, 1)
    if (items.length === 0) this.#callers.delete(caller)
  }

  /** Runs the next turn. Returns the result of a work that completed in it. */
  next(): Done<A> | undefined {
    for (const [caller, items] of this.#callers) {
      const work = items.shift()!
      const end = this.#now() + this.#length
      let step = work.steps.next()
      while (step.done !== true && this.#now() < end) step = work.steps.next()
      // The work and its caller go to the end of their queues.
      if (step.done !== true) items.push(work)
      this.#callers.delete(caller)
      if (items.length > 0) this.#callers.set(caller, items)
      return step.done === true ? { id: work.id, answer: step.value } : undefined
    }
    return undefined
  }
}
