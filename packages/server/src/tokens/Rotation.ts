/**
 * Work in turns: one for each caller that has any, and of a caller's own work in rotation too. A turn ends with the first
 * step after its time is up: so a small work is done in one, and nobody waits for more than that of each other caller.
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
  /** In the order of their turns; each has some. */
  readonly #callers = new Map<string, Array<Work<A>>>()

  /** `now` and the `length` of a turn: in any unit. */
  constructor(now: () => bigint, length: bigint) {
    this.#now = now
    this.#length = length
  }

  get isIdle(): boolean {
    return this.#callers.size === 0
  }

  add(caller: string, work: Work<A>): void {
    const own = this.#callers.get(caller)
    if (own === undefined) this.#callers.set(caller, [work])
    else own.push(work)
  }

  /** Nobody waits for it any more. */
  drop(caller: string, id: number): void {
    const own = this.#callers.get(caller)
    const at = own?.findIndex((work) => work.id === id) ?? -1
    if (own === undefined || at < 0) return
    own.splice(at, 1)
    if (own.length === 0) this.#callers.delete(caller)
  }

  /** The next turn; what the work came to where it was its last one. */
  next(): Done<A> | undefined {
    for (const [caller, own] of this.#callers) {
      const work = own.shift()!
      const end = this.#now() + this.#length
      let step = work.steps.next()
      while (step.done !== true && this.#now() < end) step = work.steps.next()
      // To the end of both rotations.
      if (step.done !== true) own.push(work)
      this.#callers.delete(caller)
      if (own.length > 0) this.#callers.set(caller, own)
      return step.done === true ? { id: work.id, answer: step.value } : undefined
    }
    return undefined
  }
}
