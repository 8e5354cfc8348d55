/**
 * Commands that write megabytes at one moment. A decorator of the machine port cannot do this: a read must return the
 * output of the world's machine, in every process and at every offset. So the shell does it.
 *
 * A run stays a pure function of its `ShellRun`: its flood is drawn from its name alone, and a run that is cut short
 * has the beginning of the whole output.
 */
import type { Shell, ShellRun, Timeline } from "@sluice/machine-shell/Shell"
import { between, type Chance } from "@sluice/machine-shell/Chance"
import { Effect } from "effect"
import type { FaultRates } from "./Fault.ts"
import { remember, type FaultDraw } from "./FaultDraw.ts"

/** Bytes of a flood: from, to. The larger floods exceed the limit of a stored log. */
const FLOOD_BYTES = [1024 * 1024, 24 * 1024 * 1024] as const

const NOTHING = new Uint8Array()
const LINE = "the same line of a log, again and again, until nobody can find the one that matters\n"

export interface LogFloodOptions {
  readonly chance: Chance
  readonly rates: FaultRates
  readonly faultDraw: FaultDraw
  /** Returns the stable name of a run. */
  readonly subjectOf: (run: ShellRun) => string
}

export class LogFloods {
  private readonly options: LogFloodOptions
  private readonly drawn = new Map<string, boolean>()
  /** All floods share one buffer, since each is the beginning of the same text. */
  private sharedBytes = NOTHING

  constructor(options: LogFloodOptions) {
    this.options = options
  }

  /** Returns the first output of a command; empty without a flood. For shells that compute their runs. */
  floodOf(subject: string): Uint8Array {
    const { chance } = this.options
    if (!this.hasFlood(subject)) return NOTHING
    if (this.sharedBytes === NOTHING)
      this.sharedBytes = new TextEncoder().encode(LINE.repeat(FLOOD_BYTES[1] / LINE.length + 1))
    return this.sharedBytes.subarray(0, between(chance.draw(`log_flood/${subject}/bytes`), ...FLOOD_BYTES))
  }

  /** Drawn once: a run that is computed again is the same, also after the rates have changed. */
  private hasFlood(subject: string): boolean {
    const { chance, rates, faultDraw } = this.options
    const known = this.drawn.get(subject)
    if (known !== undefined) return known
    const hasFlood = chance.draw(`log_flood/${subject}`) < rates.log_flood && faultDraw.planAgain("log_flood")
    if (hasFlood) faultDraw.markApplied("log_flood", subject)
    return remember(this.drawn, subject, hasFlood)
  }

  /** Returns the same shell, whose runs may begin with a flood. */
  shell(inner: Shell["Service"]): Shell["Service"] {
    return {
      ...inner,
      run: (run, slow) =>
        Effect.map(inner.run(run, slow), (timeline) =>
          prependFlood(timeline, run.startedAt, this.floodOf(this.options.subjectOf(run)))
        )
    }
  }
}

const prependFlood = (timeline: Timeline, at: number, bytes: Uint8Array): Timeline => {
  if (bytes.length === 0) return timeline
  const [head, ...tail] = timeline.chunks
  if (head === undefined || head.at > at) return { ...timeline, chunks: [{ at, bytes }, ...timeline.chunks] }
  const both = new Uint8Array(bytes.length + head.bytes.length)
  both.set(bytes)
  both.set(head.bytes, bytes.length)
  return { ...timeline, chunks: [{ at: head.at, bytes: both }, ...tail] }
}
