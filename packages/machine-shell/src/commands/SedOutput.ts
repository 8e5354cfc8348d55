/**
 * Collects the output of sed by file; "" is its stdout. A line without an end, as the last line of a file may be, gets
 * its end before the next one.
 */
import { Refusal } from "./Options.ts"

/** Characters of all output, since a script can write without end. */
const MAX_WRITTEN = 64 * 1024 * 1024

export class SedOutput {
  readonly #written = new Map<string, string>()
  readonly #open = new Set<string>()
  readonly #end: string
  #size = 0

  /** `end` ends a line. */
  constructor(end: string) {
    this.#end = end
  }

  write(text: string, to = "", hasEnd = true): void {
    const file = to === "/dev/stdout" ? "" : to
    this.#size += text.length + 1
    if (this.#size > MAX_WRITTEN) throw new Refusal("couldn't write: No space left on device", 4)
    const before = this.#open.delete(file) ? this.#end : ""
    this.#written.set(file, `${this.#written.get(file) ?? ""}${before}${text}${hasEnd ? this.#end : ""}`)
    if (!hasEnd) this.#open.add(file)
  }

  /** Returns the text that was written to a file since the last call. */
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
