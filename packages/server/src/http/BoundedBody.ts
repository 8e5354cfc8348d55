/**
 * Reads a request's body as text, once and never beyond its limit. When the body is too large, the rest is discarded
 * and the socket stays open, so that the caller reads a 413 instead of a reset connection.
 */
import { isUtf8 } from "node:buffer"
import type { IncomingMessage, ServerResponse } from "node:http"
import { BodyCrowdedOut, BodyTooLarge } from "@sluice/api/inference/EdgeFailures"
import { Effect, Exit, Schema } from "effect"
import { bearerOf } from "./Bearer.ts"
import type { BodyReservation, ByteBudget } from "./BodyMemoryBudget.ts"

/** The bytes are not UTF-8, so they are no JSON text either. */
export class BodyNotText extends Schema.TaggedError<BodyNotText>()("BodyNotText", {}) {}

/** The body is compressed or has another content coding; the server decodes none. */
export class BodyEncoded extends Schema.TaggedError<BodyEncoded>()("BodyEncoded", {}) {}

export type BodyFailure = BodyTooLarge | BodyNotText | BodyEncoded | BodyCrowdedOut

export type BodyOutcome = Exit.Exit<string, BodyFailure>

export interface BoundedBody {
  /**
   * Calls `onOutcome` once the body is complete or has failed, and `onGone` when the caller disconnects before that.
   */
  readonly read: (onOutcome: (outcome: BodyOutcome) => void, onGone?: () => void) => void
  readonly text: Effect.Effect<string, BodyFailure>
  /** True once more bytes than the limit have arrived. */
  readonly hasOverflowed: () => boolean
}

/** A body of up to this many bytes counts against no budget. */
export const SMALL_BODY_BYTES = 16_384

/** `response`: its close releases the body's bytes. */
export const boundedBody = (
  source: IncomingMessage,
  response: ServerResponse,
  limit: number,
  budget: ByteBudget
): BoundedBody => {
  /** The outcome for later calls of `read`. */
  let outcome: BodyOutcome | undefined
  let hasOverflowed = false
  const read: BoundedBody["read"] = (onOutcome, onGone) => {
    if (outcome !== undefined) return onOutcome(outcome)
    const end = (result: BodyOutcome) => {
      outcome ??= result
      onOutcome(outcome)
    }
    // The declared length is over the limit, so nothing is read.
    if (Number(source.headers["content-length"]) > limit) {
      hasOverflowed = true
      return end(Exit.fail(new BodyTooLarge({ limitBytes: limit })))
    }
    const contentCoding = source.headers["content-encoding"]
    if (contentCoding !== undefined && contentCoding.toLowerCase() !== "identity")
      return end(Exit.fail(new BodyEncoded()))
    const parts: Array<Buffer> = []
    let size = 0
    const drop = (why: BodyFailure) => {
      parts.length = 0
      end(Exit.fail(why))
    }
    let reservation: BodyReservation | undefined
    const reserve = () => {
      const reservation = {
        owner: bearerOf(source) ?? "",
        bytes: 0,
        onEvicted: () => drop(new BodyCrowdedOut())
      }
      response.on("close", () => budget.release(reservation))
      return reservation
    }
    source.on("data", (chunk: Buffer) => {
      if (outcome !== undefined) return
      size += chunk.length
      if (size > limit) {
        hasOverflowed = true
        if (reservation !== undefined) budget.release(reservation)
        return drop(new BodyTooLarge({ limitBytes: limit }))
      }
      parts.push(chunk)
      if (size > SMALL_BODY_BYTES)
        budget.grow((reservation ??= reserve()), reservation.bytes === 0 ? size : chunk.length)
    })
    source.on("end", () => {
      if (outcome !== undefined) return
      if (reservation !== undefined) budget.complete(reservation)
      const bytes = parts.length === 1 ? parts[0]! : Buffer.concat(parts)
      parts.length = 0
      end(isUtf8(bytes) ? Exit.succeed(textOf(bytes)) : Exit.fail(new BodyNotText()))
    })
    source.on("error", () => onGone?.())
  }
  const text = Effect.callback<string, BodyFailure>((resume) => {
    read(resume, () => resume(Effect.interrupt))
  })
  return { read, text, hasOverflowed: () => hasOverflowed }
}

/** Some texts start with a byte order mark, which is no part of the text (RFC 8259, 8.1). */
const textOf = (bytes: Buffer): string => {
  const text = bytes.toString("utf8")
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
}
