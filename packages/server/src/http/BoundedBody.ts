/**
 * A request's body as text, read once and never beyond its limit. The socket stays open when it is too large, so that the
 * caller reads a 413 instead of a reset connection; what still comes is thrown away.
 */
import { isUtf8 } from "node:buffer"
import type { IncomingMessage } from "node:http"
import { Data, Effect } from "effect"

export class BodyTooLarge extends Data.TaggedError("BodyTooLarge")<{ readonly limit: number }> {}

/** The bytes are not UTF-8: no JSON text either. */
export class BodyNotText extends Data.TaggedError("BodyNotText")<{}> {}

export interface BoundedBody {
  readonly text: Effect.Effect<string, BodyTooLarge | BodyNotText>
  /** Whether more than the limit came. */
  readonly overflowed: () => boolean
}

export const boundedBody = (source: IncomingMessage, limit: number): BoundedBody => {
  /** What became of the body, for those who ask again. */
  let outcome: Effect.Effect<string, BodyTooLarge | BodyNotText> | undefined
  let overflowed = false
  const text = Effect.callback<string, BodyTooLarge | BodyNotText>((resume) => {
    if (outcome !== undefined) return resume(outcome)
    const end = (result: Effect.Effect<string, BodyTooLarge | BodyNotText>) => {
      outcome ??= result
      resume(outcome)
    }
    const parts: Array<Buffer> = []
    let size = 0
    source.on("data", (chunk: Buffer) => {
      if (overflowed) return
      size += chunk.length
      if (size <= limit) return void parts.push(chunk)
      overflowed = true
      parts.length = 0
      end(Effect.fail(new BodyTooLarge({ limit })))
    })
    source.on("end", () => {
      const bytes = parts.length === 1 ? parts[0]! : Buffer.concat(parts)
      end(isUtf8(bytes) ? Effect.succeed(bytes.toString("utf8")) : Effect.fail(new BodyNotText()))
    })
    source.on("error", () => resume(Effect.interrupt))
  })
  return { text, overflowed: () => overflowed }
}
