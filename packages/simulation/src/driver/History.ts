/**
 * All that happened, in order: each event is hashed, the last ones are kept for whoever asks what led to a failure. What
 * is noted beside (logs) is kept and not hashed. What looks like a secret is remembered wherever it stood.
 */
import { createHash } from "node:crypto"
import type { Driver } from "./Driver.ts"

const KEPT = 200
/** Of an event, letters at most. */
const LENGTH = 600

export class History {
  private readonly hash = createHash("sha256")
  private readonly tail: Array<string> = []
  private readonly driver: Driver
  private readonly secretive: RegExp
  /** All that looked like a secret. */
  readonly suspects = new Set<string>()
  events = 0

  /** `secretive`: what secrets look like, with the flag g. */
  constructor(driver: Driver, secretive: RegExp) {
    this.driver = driver
    this.secretive = secretive
  }

  /** An event of the world: it is part of the run's identity. */
  record(event: string): void {
    this.events++
    this.hash.update(`${this.driver.now} ${event}\n`)
    this.note(event)
  }

  /** Something worth reading when a run fails. */
  note(text: string): void {
    for (const suspect of text.match(this.secretive) ?? []) this.suspects.add(suspect)
    this.tail.push(`${clockText(this.driver.now)} ${text.slice(0, LENGTH)}`)
    if (this.tail.length > 2 * KEPT) this.tail.splice(0, KEPT)
  }

  get last(): ReadonlyArray<string> {
    return this.tail.slice(-KEPT)
  }

  /** SHA-256 of all events so far, hex. */
  digest(): string {
    return this.hash.copy().digest("hex")
  }
}

/** `1d 02:03:04.005` */
const clockText = (ms: number): string => {
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0")
  const day = Math.floor(ms / 86_400_000)
  const time = `${two((ms / 3_600_000) % 24)}:${two((ms / 60_000) % 60)}:${two((ms / 1_000) % 60)}`
  return `${day}d ${time}.${String(Math.floor(ms % 1_000)).padStart(3, "0")}`
}
