/** How much waits: of one caller, and of all, no more than so many bytes. What finds nothing else waiting always may. */
export class Backlog {
  readonly #mostOfCaller: number
  readonly #mostOfAll: number
  readonly #callers = new Map<string, number>()
  #all = 0

  constructor(mostOfCaller: number, mostOfAll: number) {
    this.#mostOfCaller = mostOfCaller
    this.#mostOfAll = mostOfAll
  }

  /** Whether there is room: then it waits from now on, until it leaves. */
  enter(caller: string, bytes: number): boolean {
    const own = this.#callers.get(caller) ?? 0
    if (own > 0 && own + bytes > this.#mostOfCaller) return false
    if (this.#all > 0 && this.#all + bytes > this.#mostOfAll) return false
    this.#callers.set(caller, own + bytes)
    this.#all += bytes
    return true
  }

  leave(caller: string, bytes: number): void {
    const own = (this.#callers.get(caller) ?? 0) - bytes
    if (own > 0) this.#callers.set(caller, own)
    else this.#callers.delete(caller)
    this.#all -= bytes
  }
}
