/**
 * Commands that write megabytes in one moment. A decorator of the port of machines cannot do this: what is read must be
 * what the world's machine wrote, in every process and at every offset. So it is done where commands run.
 *
 * A run stays a pure function of its `ShellRun`: whether it floods is drawn from its name alone, and a run that is cut
 * short has written the beginning of the whole one.
 */
import type { Shell, ShellRun, Timeline } from "@sluice/machine-shell/Shell"
import { between, type Chance } from "@sluice/machine-shell/Chance"
import { Effect } from "effect"
import type { FaultRates } from "./Fault.ts"
import { remembered, type FaultDraw } from "./FaultDraw.ts"

/** Bytes of a flood: from, to. The larger ones pass the limit of what is kept of a log. */
const FLOOD_BYTES = [1024 * 1024, 24 * 1024 * 1024] as const

const NOTHING = new Uint8Array()
const LINE = "the same line of a log, again and again, until nobody can find the one that matters\n"

export interface LogFloodOptions {
  readonly chance: Chance
  readonly rates: FaultRates
  readonly strikes: FaultDraw
  /** The stable name of a run. */
  readonly subjectOf: (run: ShellRun) => string
}

export class LogFloods {
  private readonly options: LogFloodOptions
  private readonly drawn = new Map<string, boolean>()
  /** All floods share one buffer: their bytes are the beginning of the same text. */
  private longest = NOTHING

  constructor(options: LogFloodOptions) {
    this.options = options
  }

  /** What this command writes before anything else; empty when it is spared. For shells that compute their runs. */
  floodOf(subject: string): Uint8Array {
    const { chance } = this.options
    if (!this.floods(subject)) return NOTHING
    if (this.longest === NOTHING) this.longest = new TextEncoder().encode(LINE.repeat(FLOOD_BYTES[1] / LINE.length + 1))
    return this.longest.subarray(0, between(chance.draw(`log_flood/${subject}/bytes`), ...FLOOD_BYTES))
  }

  /** Drawn once: a run that is computed again is the same, whatever the rates are by then. */
  private floods(subject: string): boolean {
    const { chance, rates, strikes } = this.options
    const known = this.drawn.get(subject)
    if (known !== undefined) return known
    const floods = chance.draw(`log_flood/${subject}`) < rates.log_flood && strikes.again("log_flood")
    if (floods) strikes.struck("log_flood", subject)
    return remembered(this.drawn, subject, floods)
  }

  /** The same shell, whose runs may begin with a flood. */
  shell(inner: Shell["Service"]): Shell["Service"] {
    return {
      ...inner,
      run: (run, slow) =>
        Effect.map(inner.run(run, slow), (timeline) =>
          flooded(timeline, run.startedAt, this.floodOf(this.options.subjectOf(run)))
        )
    }
  }
}

const flooded = (timeline: Timeline, at: number, bytes: Uint8Array): Timeline => {
  if (bytes.length === 0) return timeline
  const [head, ...tail] = timeline.chunks
  if (head === undefined || head.at > at) return { ...timeline, chunks: [{ at, bytes }, ...timeline.chunks] }
  const both = new Uint8Array(bytes.length + head.bytes.length)
  both.set(bytes)
  both.set(head.bytes, bytes.length)
  return { ...timeline, chunks: [{ at: head.at, bytes: both }, ...tail] }
}
