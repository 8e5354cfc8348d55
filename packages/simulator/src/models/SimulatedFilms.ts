/**
 * The video models of the simulated world. The progress of a video follows from the time of its order, which its
 * reference holds: the models store nothing, outlive every server, and give the same video for the same order. A video
 * is rendered when it is read.
 */
import type { ByteRange, VideoModel, VideoProvider, VideoTask } from "@sluice/domain/models/MediaProvider"
import { UpstreamFailed } from "@sluice/domain/models/UpstreamFailed"
import { Clock, Effect, Schema, Stream } from "effect"
import { textHash } from "./Draws.ts"
import type { Studio } from "./Studio.ts"

/** A video waits this long, and then each second of it takes this long. */
const WAITING_MS = 2_000
const MS_PER_SECOND = 2_500
/** Rendered videos in the cache, so that a read of a part does not render the video again. */
const MAX_RENDERED = 8
const PIECE_BYTES = 65_536

/** The content of a reference. */
const Order = Schema.Struct({ key: Schema.Int, at: Schema.Int, size: Schema.String, seconds: Schema.Int })
type Order = typeof Order.Type
const Name = Schema.fromJsonString(Order)
const decode = Schema.decodeUnknownEffect(Name)
const encode = Schema.encodeSync(Name)

export const simulatedFilms = (
  seed: number,
  models: ReadonlyArray<VideoModel>,
  studio: Studio["Service"],
  isPaced: boolean
): VideoProvider => {
  const films = new Map<string, Uint8Array>()

  const orderOf = (reference: string): Effect.Effect<Order, UpstreamFailed> =>
    Effect.mapError(decode(reference), () => new UpstreamFailed({ reason: "unserved" }))

  const render = (reference: string): Effect.Effect<Uint8Array, UpstreamFailed> =>
    Effect.suspend(() => {
      const known = films.get(reference)
      if (known !== undefined) return Effect.succeed(known)
      return Effect.flatMap(orderOf(reference), ({ key, seconds, size }) => {
        const [width = 0, height = 0] = size.split("x").map(Number)
        return Effect.tap(studio.render({ kind: "film", key, width, height, seconds }), (bytes) =>
          Effect.sync(() => {
            films.set(reference, bytes)
            const [oldest] = films.keys()
            if (films.size > MAX_RENDERED && oldest !== undefined) films.delete(oldest)
          })
        )
      })
    })

  return {
    models,
    submit: (model, task) =>
      Effect.map(Clock.currentTimeMillis, (at) =>
        encode({ key: keyOf(seed, model.id, task), at, size: task.size, seconds: task.seconds })
      ),
    look: (_model, reference) =>
      Effect.flatMap(orderOf(reference), ({ at, seconds }) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const age = isPaced ? now - at : Number.POSITIVE_INFINITY
          if (age < WAITING_MS) return { _tag: "Waiting" }
          const part = (age - WAITING_MS) / (MS_PER_SECOND * seconds)
          return part >= 1 ? { _tag: "Completed" } : { _tag: "Filming", percent: 100 * part }
        })
      ),
    read: (_model, reference, range) =>
      Effect.map(render(reference), (film) => {
        const { end, start } = partOf(film.length, range)
        return { size: film.length, start, end, bytes: streamPieces(film.subarray(start, end)) }
      }),
    remove: (_model, reference) => Effect.sync(() => void films.delete(reference))
  }
}

const partOf = (size: number, range: ByteRange | undefined) => {
  if (range === undefined) return { start: 0, end: size }
  if ("suffix" in range) return { start: range.suffix === 0 ? size : Math.max(0, size - range.suffix), end: size }
  return { start: range.start, end: Math.max(range.start, Math.min(size, (range.end ?? size - 1) + 1)) }
}

const keyOf = (seed: number, model: string, { image, prompt }: VideoTask): number => {
  const key = textHash(textHash(seed, model), prompt)
  return image === undefined ? key : textHash(key, String.fromCharCode(...image.bytes.subarray(0, 4_096)))
}

const streamPieces = (bytes: Uint8Array): Stream.Stream<Uint8Array> =>
  Stream.fromIterable(
    Array.from({ length: Math.ceil(bytes.length / PIECE_BYTES) }, (_, i) =>
      bytes.subarray(i * PIECE_BYTES, (i + 1) * PIECE_BYTES)
    )
  )
