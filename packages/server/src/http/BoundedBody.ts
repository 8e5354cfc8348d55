/**
 * A request's body as text, read once and never beyond its limit. The socket stays open when it is too large, so that the
 * caller reads a 413 instead of a reset connection; what still comes is thrown away.
 */
import { isUtf8 } from "node:buffer"
import type { IncomingMessage } from "node:http"
import { Data, Effect, Exit } from "effect"

export class BodyTooLarge extends Data.TaggedError("BodyTooLarge")<{ readonly limit: number }> {}

/** The bytes are not UTF-8: no JSON text either. */
export class BodyNotText extends Data.TaggedError("BodyNotText")<{}> {}

export type BodyOutcome = Exit.Exit<string, BodyTooLarge | BodyNotText>

export interface BoundedBody {
  /** Tells `told` what came, once it is all there or too much; never where the caller goes away before. */
  readonly read: (told: (outcome: BodyOutcome) => void, gone?: () => void) => void
  readonly text: Effect.Effect<string, BodyTooLarge | BodyNotText>
  /** Whether more than the limit came. */
  readonly overflowed: () => boolean
}

export const boundedBody = (source: IncomingMessage, limit: number): BoundedBody => {
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
    const parts: Array<Buffer> = []
    let size = 0
    source.on("data", (chunk: Buffer) => {
      if (overflowed) return
      size += chunk.length
      if (size <= limit) return void parts.push(chunk)
      overflowed = true
      parts.length = 0
      end(Exit.fail(new BodyTooLarge({ limit })))
    })
    source.on("end", () => {
      if (overflowed) return
      const bytes = parts.length === 1 ? parts[0]! : Buffer.concat(parts)
      end(isUtf8(bytes) ? Exit.succeed(bytes.toString("utf8")) : Exit.fail(new BodyNotText()))
    })
    source.on("error", () => gone?.())
  }
  const text = Effect.callback<string, BodyTooLarge | BodyNotText>((resume) => {
    read(resume, () => resume(Effect.interrupt))
  })
  return { read, text, overflowed: () => overflowed }
}
