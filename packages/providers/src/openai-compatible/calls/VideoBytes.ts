/**
 * The bytes of a film at an upstream, or a part of them. Its size is asked for first, so that the answer's head is right
 * before a byte is there; the bytes themselves are asked for when they are read. An upstream that gives no parts, or does not
 * say of how much they are parts, is read from its start.
 */
import type { ByteRange, VideoBytes, VideoProgress } from "@sluice/domain/models/MediaProvider"
import { UpstreamFailed } from "@sluice/domain/models/UpstreamFailed"
import { Cause, Effect, Stream } from "effect"
import { callFailed, type CallFailed, toldOf } from "../upstream/CallFailed.ts"
import { type Exchange, GO_ON } from "../upstream/Exchange.ts"
import { checked } from "../upstream/Reply.ts"
import type { Call, Plan, Upstreams } from "../upstream/Upstreams.ts"
import { isUnknown, LOST } from "./VideoCall.ts"

const MAX_BYTES = 8 * 1024 * 1024 * 1024
/** The range of its first byte. */
const FIRST = "bytes=0-0"

export const videoBytes = (
  upstreams: Upstreams,
  plan: Plan,
  id: string,
  range: ByteRange | undefined
): Effect.Effect<VideoBytes, UpstreamFailed> =>
  Effect.map(upstreams.run(sizeCall(id), plan), ({ parts, size }) => {
    const { end, start } = within(size, range)
    const bytes = start >= end ? Stream.empty : bytesOf(upstreams, plan, id, start, end, parts)
    return { size, start, end, bytes }
  })

/** `[start, end)` of a file. */
export const within = (size: number, range: ByteRange | undefined) => {
  if (range === undefined) return { start: 0, end: size }
  if ("suffix" in range) return { start: Math.max(0, size - range.suffix), end: size }
  const start = Math.min(range.start, Number.MAX_SAFE_INTEGER)
  return { start, end: Math.max(start, Math.min(size, (range.end ?? size - 1) + 1)) }
}

/** `range` undefined: all of it. */
const send = (lease: Parameters<Call<unknown, never>>[0], id: string, range: string | undefined) =>
  lease.send({
    method: "GET",
    path: `/videos/${encodeURIComponent(id)}/content`,
    accept: "*/*",
    headers: range === undefined ? [] : ["range", range],
    mostBytes: MAX_BYTES
  })

/** Whether there is something to fetch of a film that is said to be made: some give out none of what they keep elsewhere. */
export const thereCall =
  (id: string): Call<VideoProgress, never> =>
  (lease) =>
    Effect.suspend(() => {
      const exchange = send(lease, id, FIRST)
      const first = Effect.flatMap(film(exchange, lease), () => exchange.read)
      return Effect.matchEffect(first, {
        onSuccess: (bytes) => Effect.succeed(bytes === undefined ? NEARLY : COMPLETED),
        onFailure: (error) => {
          if (NOT_YET.has(error.status)) return Effect.succeed(NEARLY)
          return isWithheld(error, exchange) ? Effect.succeed(LOST) : Effect.fail(error)
        }
      })
    })

/** Refused, elsewhere, or something else in its place: so it will be the next time. */
const isWithheld = ({ fault, status }: CallFailed, exchange: Exchange): boolean =>
  fault === "status"
    ? WITHHELD.has(status) || (status >= 300 && status < 400)
    : fault === "malformed" && exchange.status !== 0

const WITHHELD = new Set([400, 403, 410, 413, 415, 422])
/** Some say that a film is made before it is where they fetch it from, or before a byte of it is (416). */
const NOT_YET = new Set([404, 409, 416, 423, 425])
const NEARLY: VideoProgress = { _tag: "Filming", percent: 99 }
const COMPLETED: VideoProgress = { _tag: "Completed" }

interface Size {
  readonly size: number
  /** Whether it gives parts of it. */
  readonly parts: boolean
}

const sizeCall =
  (id: string): Call<Size, never> =>
  (lease) =>
    Effect.filterOrFail(
      sizeOf(lease, id, FIRST),
      // It is not there any more.
      ({ size }) => size > 0,
      () => callFailed("unserved")
    )

const sizeOf = (
  lease: Parameters<Call<unknown, never>>[0],
  id: string,
  range: string | undefined
): Effect.Effect<Size, CallFailed> =>
  Effect.suspend(() => {
    const exchange = send(lease, id, range)
    return Effect.flatMap(kept(exchange, lease), () => {
      const parts = exchange.status === 206
      const size = parts
        ? /^bytes \d+-\d+\/(\d{1,15})$/.exec(exchange.header("content-range") ?? "")?.[1]
        : exchange.header("content-length")
      if (/^\d{1,15}$/.test(size ?? "")) return Effect.succeed({ size: Number(size), parts })
      // It does not say of how much it is a part.
      if (parts) return range === undefined ? Effect.fail(callFailed("malformed")) : sizeOf(lease, id, undefined)
      // It tells no size: all of it is read for that once, and again for its bytes.
      return Effect.map(counted(exchange), (size) => ({ size, parts }))
    })
  })

const counted = (exchange: Exchange): Effect.Effect<number, CallFailed> =>
  Effect.suspend(() => {
    let size = 0
    const read = exchange.each((bytes) => {
      size += bytes?.length ?? 0
      return GO_ON
    })
    return Effect.map(read, () => size)
  })

/** An error in place of a film, with status 200, is none. */
const film = (exchange: Exchange, lease: Parameters<Call<unknown, never>>[0]): Effect.Effect<void, CallFailed> =>
  Effect.flatMap(checked(exchange, lease), () =>
    /^(text\/|application\/json)/i.test(exchange.header("content-type") ?? "")
      ? Effect.fail(callFailed("malformed"))
      : Effect.void
  )

/** Of a film that was there: who does not give it out, or has forgotten it, is well, and makes others. */
const kept: typeof film = (exchange, lease) =>
  Effect.mapError(film(exchange, lease), (error) =>
    isUnknown(error) || isWithheld(error, exchange) ? callFailed("unserved") : error
  )

const bytesOf = (upstreams: Upstreams, plan: Plan, id: string, start: number, end: number, parts: boolean) => {
  const opened = upstreams.open((lease) => {
    const exchange = send(lease, id, parts ? `bytes=${start}-${end - 1}` : undefined)
    return Effect.as(kept(exchange, lease), exchange)
  }, plan)
  return Stream.unwrap(
    Effect.map(opened, (exchange) => part(exchange, exchange.status === 206 ? 0 : start, end - start))
  )
}

/** `length` bytes of the answer after `skip` others; fewer are a film that was cut. */
const part = (exchange: Exchange, skip: number, length: number): Stream.Stream<Uint8Array, UpstreamFailed> => {
  let [skipped, left] = [skip, length]
  const pull: Effect.Effect<readonly [Uint8Array], UpstreamFailed | Cause.Done> = Effect.suspend(() => {
    if (left === 0) return Cause.done()
    return Effect.flatMap(Effect.mapError(exchange.read, toldOf), (read) => {
      if (read === undefined) return Effect.fail(new UpstreamFailed({ reason: "broken" }))
      const wanted = read.subarray(Math.min(skipped, read.length)).subarray(0, left)
      skipped -= Math.min(skipped, read.length)
      left -= wanted.length
      return wanted.length === 0 ? pull : Effect.succeed([wanted] as const)
    })
  })
  return Stream.fromPull(Effect.succeed(pull))
}
