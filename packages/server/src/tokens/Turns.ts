/**
 * Work in turns: a step for each caller that has any, and of a caller's own work in rotation too. Nobody waits for more
 * than a step of each other caller, however much that one has to do.
 */
interface Work<A> {
  readonly id: number
  readonly steps: Iterator<undefined, A>
}

export interface Done<A> {
  readonly id: number
  readonly answer: A
}

export class Turns<A> {
  /** In the order of their turns; each has some. */
  readonly #callers = new Map<string, Array<Work<A>>>()

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

  /** The next step; what it came to where it was the last one. */
  step(): Done<A> | undefined {
    for (const [caller, own] of this.#callers) {
      const work = own.shift()!
      const { done, value } = work.steps.next()
      if (done !== true) own.push(work)
      // To the end of the rotation.
      this.#callers.delete(caller)
      if (own.length > 0) this.#callers.set(caller, own)
      return done === true ? { id: work.id, answer: value } : undefined
    }
    return undefined
  }
}
