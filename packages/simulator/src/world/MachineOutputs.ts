/**
 * The output of machines: the past part of their timelines. A read gets the bytes at an offset; a follower gets each
 * byte once, when it is due.
 */
import type { Output, ProviderUnavailable } from "@sluice/domain/machines/MachineProvider"
import { Clock, Context, Effect, Layer, Stream } from "effect"
import type { Chunk, Timeline } from "@sluice/machine-shell/Shell"
import type { LaunchRecord } from "./LaunchRecord.ts"
import { endOf, hasCommandStarted, view } from "./MachineView.ts"
import { OutputWaits } from "./OutputWaits.ts"
import { Timelines } from "./Timelines.ts"
import { WorldBatches } from "./WorldBatches.ts"

const FOLLOW_BYTES = 256 * 1024

const make = Effect.gen(function* () {
  const batches = yield* WorldBatches
  const timelines = yield* Timelines
  const clock = yield* Clock.Clock
  const waits = new OutputWaits()
  const now = () => clock.currentTimeMillisUnsafe()

  /**
   * Returns at most `maxBytes` from byte `from`, and the time of further bytes (`Infinity`: never). `timelineOf`
   * returns undefined while the output is not known.
   */
  const readFrom = Effect.fnUntraced(function* (
    record: LaunchRecord | undefined,
    from: number,
    maxBytes: number,
    timelineOf: (record: LaunchRecord) => Effect.Effect<Timeline | undefined, ProviderUnavailable>
  ) {
    if (record === undefined || record.plan === null) return { bytes: NOTHING, again: Infinity }
    if (!hasCommandStarted(record, now())) {
      const { nextOutputAt } = view(record, undefined, now())
      return { bytes: NOTHING, again: nextOutputAt ?? now() }
    }
    const timeline = yield* timelineOf(record)
    if (timeline === undefined) return { bytes: NOTHING, again: now() }
    const end = endOf(record, timeline)
    const at = now()
    const bytes = slice(timeline.chunks, Math.min(at, end.at), from, maxBytes)
    if (bytes.length === maxBytes) return { bytes, again: at }
    const next = timeline.chunks.find((chunk) => chunk.at > at)?.at ?? Infinity
    return { bytes, again: end.at <= at ? Infinity : Math.min(next, end.at) }
  })

  return {
    read: (key: string, from: number, maxBytes: number): Effect.Effect<Output, ProviderUnavailable> =>
      Effect.flatMap(batches.recent(key), (record) =>
        Effect.map(readFrom(record, from, maxBytes, timelines.getSoon), ({ bytes }) => ({ offset: from, bytes }))
      ),

    follow: (key: string, from: number): Stream.Stream<Output, ProviderUnavailable> =>
      Stream.unwrap(
        Effect.map(waits.follower(key), (follower) =>
          Stream.unfold(
            from,
            Effect.fnUntraced(function* (offset) {
              for (;;) {
                // After a stop has woken the follower, it must see the stop.
                const record = yield* batches.find(key)
                const { bytes, again } = yield* readFrom(record, offset, FOLLOW_BYTES, timelines.get)
                if (bytes.length > 0) return [{ offset, bytes }, offset + bytes.length] as const
                if (again === Infinity) return undefined
                yield* follower.sleep(again - now())
              }
            })
          )
        )
      ),

    /** Wakes the followers of a stopped machine. */
    wake: (key: string): void => waits.wake(key)
  }
})

export class MachineOutputs extends Context.Service<MachineOutputs, Effect.Success<typeof make>>()(
  "@sluice/simulator/world/MachineOutputs"
) {
  static readonly layer = Layer.effect(MachineOutputs, make)
}

const NOTHING = new Uint8Array()

/** Returns at most `maxBytes` of the output up to `now`, from byte `from`. */
const slice = (chunks: ReadonlyArray<Chunk>, now: number, from: number, maxBytes: number): Uint8Array => {
  const parts: Array<Uint8Array> = []
  let start = 0
  let size = 0
  for (const chunk of chunks) {
    if (chunk.at > now || size === maxBytes) break
    const skipped = Math.max(0, from - start)
    const part = chunk.bytes.subarray(skipped, skipped + maxBytes - size)
    parts.push(part)
    size += part.length
    start += chunk.bytes.length
  }
  const whole = new Uint8Array(size)
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
