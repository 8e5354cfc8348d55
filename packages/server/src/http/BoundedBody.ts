/**
 * A request's body as text, read once and never beyond its limit. The socket stays open when it is too large, so that the
 * caller reads a 413 instead of a reset connection; what still comes is thrown away.
 */
import { isUtf8 } from "node:buffer"
import type { IncomingMessage, ServerResponse } from "node:http"
import { Data, Effect, Exit } from "effect"
import { bearerOf } from "./Bearer.ts"
import type { BodyReservation, ByteBudget } from "./BodyMemoryBudget.ts"

export class BodyTooLarge extends Data.TaggedError("BodyTooLarge")<{ readonly limit: number }> {}

/** The bytes are not UTF-8: no JSON text either. */
export class BodyNotText extends Data.TaggedError("BodyNotText")<{}> {}

/** It is compressed, or encoded in another way that nobody here undoes. */
export class BodyEncoded extends Data.TaggedError("BodyEncoded")<{}> {}

/** It gave way to others while it was still coming. */
export class BodyCrowdedOut extends Data.TaggedError("BodyCrowdedOut")<{}> {}

export type BodyFailure = BodyTooLarge | BodyNotText | BodyEncoded | BodyCrowdedOut

export type BodyOutcome = Exit.Exit<string, BodyFailure>

export interface BoundedBody {
  /** Tells `told` what came, once it is all there or too much; never where the caller goes away before. */
  readonly read: (told: (outcome: BodyOutcome) => void, gone?: () => void) => void
  readonly text: Effect.Effect<string, BodyFailure>
  /** Whether more than the limit came. */
  readonly overflowed: () => boolean
}

/** A body of so many bytes takes no room. */
export const SMALL_BODY_BYTES = 16_384

/** `response`: when it is closed, the request is answered. */
export const boundedBody = (
  source: IncomingMessage,
  response: ServerResponse,
  limit: number,
  room: ByteBudget
): BoundedBody => {
  /** What became of the body, for those who ask again. */
  let outcome: BodyOutcome | undefined
  let overflowed = false
  const read: BoundedBody["read"] = (told, gone) => {
    if (outcome !== undefined) return told(outcome)
    const end = (result: BodyOutcome) => {
      outcome ??= result
      told(outcome)
    }
    // Said before it came: none of it is waited for.
    if (Number(source.headers["content-length"]) > limit) {
      overflowed = true
      return end(Exit.fail(new BodyTooLarge({ limit })))
    }
    const coding = source.headers["content-encoding"]
    if (coding !== undefined && coding.toLowerCase() !== "identity") return end(Exit.fail(new BodyEncoded()))
    const parts: Array<Buffer> = []
    let size = 0
    const drop = (why: BodyFailure) => {
      parts.length = 0
      end(Exit.fail(why))
    }
    let guest: BodyReservation | undefined
    const enter = () => {
      const one = {
        owner: bearerOf(source) ?? "",
        bytes: 0,
        evicted: () => drop(new BodyCrowdedOut())
      }
      response.on("close", () => room.leave(one))
      return one
    }
    source.on("data", (chunk: Buffer) => {
      if (outcome !== undefined) return
      size += chunk.length
      if (size > limit) {
        overflowed = true
        if (guest !== undefined) room.leave(guest)
        return drop(new BodyTooLarge({ limit }))
      }
      parts.push(chunk)
      if (size > SMALL_BODY_BYTES) room.grow((guest ??= enter()), guest.bytes === 0 ? size : chunk.length)
    })
    source.on("end", () => {
      if (outcome !== undefined) return
      if (guest !== undefined) room.settle(guest)
      const bytes = parts.length === 1 ? parts[0]! : Buffer.concat(parts)
      parts.length = 0
      end(isUtf8(bytes) ? Exit.succeed(textOf(bytes)) : Exit.fail(new BodyNotText()))
    })
    source.on("error", () => gone?.())
  }
  const text = Effect.callback<string, BodyFailure>((resume) => {
    read(resume, () => resume(Effect.interrupt))
  })
  return { read, text, overflowed: () => overflowed }
}

/** Some begin with a mark of byte order, which is no part of what they say (RFC 8259, 8.1). */
const textOf = (bytes: Buffer): string => {
  const text = bytes.toString("utf8")
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
}
