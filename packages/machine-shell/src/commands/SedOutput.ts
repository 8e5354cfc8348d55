/** What sed writes, by file; "" is its output. A line that did not end, as the last one of a file may not, ends before another. */
import { Refusal } from "./Options.ts"

/** Characters in all: a script may write without end. */
const MAX_WRITTEN = 64 * 1024 * 1024

export class SedOutput {
  readonly #written = new Map<string, string>()
  readonly #open = new Set<string>()
  readonly #end: string
  #size = 0

  /** What ends a line. */
  constructor(end: string) {
    this.#end = end
  }

  say(text: string, to = "", ended = true): void {
    const file = to === "/dev/stdout" ? "" : to
    this.#size += text.length + 1
    if (this.#size > MAX_WRITTEN) throw new Refusal("couldn't write: No space left on device", 4)
    const before = this.#open.delete(file) ? this.#end : ""
    this.#written.set(file, `${this.#written.get(file) ?? ""}${before}${text}${ended ? this.#end : ""}`)
    if (!ended) this.#open.add(file)
  }

  /** What was written since to one of them. */
  take(file: string): string {
    const text = this.#written.get(file) ?? ""
    this.#written.delete(file)
    this.#open.delete(file)
    return text
  }

  get files(): ReadonlyArray<string> {
    return [...this.#written.keys()]
  }
}
