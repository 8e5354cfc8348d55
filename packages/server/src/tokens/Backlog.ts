/**
 * Bounds the bytes of queued texts, per caller and in total. A caller with nothing queued is never refused by its own
 * bound, and the total bound refuses nothing while the queue is empty.
 */
export class Backlog {
  readonly #maxPerCaller: number
  readonly #maxTotal: number
  readonly #callers = new Map<string, number>()
  #total = 0

  constructor(maxPerCaller: number, maxTotal: number) {
    this.#maxPerCaller = maxPerCaller
    this.#maxTotal = maxTotal
  }

  /**
   * Reserves the bytes and returns true, or returns false where a bound would be exceeded. Release them with `release`.
   */
  reserve(caller: string, bytes: number): boolean {
    const callerBytes = this.#callers.get(caller) ?? 0
    if (callerBytes > 0 && callerBytes + bytes > this.#maxPerCaller) return false
    if (this.#total > 0 && this.#total + bytes > this.#maxTotal) return false
    this.#callers.set(caller, callerBytes + bytes)
    this.#total += bytes
    return true
  }

  release(caller: string, bytes: number): void {
    const callerBytes = (this.#callers.get(caller) ?? 0) - bytes
    if (callerBytes > 0) this.#callers.set(caller, callerBytes)
    else this.#callers.delete(caller)
    this.#total -= bytes
  }
}
