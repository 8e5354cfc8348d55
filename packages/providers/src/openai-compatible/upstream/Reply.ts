/** What an answer must be before it is read: a success, not encoded, and for JSON no page of somebody in between. */
import { Duration, Effect } from "effect"
import { callFailed, type CallFailed, statusFailed } from "./CallFailed.ts"
import { explained, UNCLEAR } from "./ErrorBody.ts"
import { type Exchange, GO_ON } from "./Exchange.ts"
import { parsed } from "./Loose.ts"
import type { Lease } from "./Upstreams.ts"

/** Waits until the answer begins; no redirect is followed. */
export const checked = (exchange: Exchange, lease: Lease): Effect.Effect<void, CallFailed> =>
  Effect.flatMap(exchange.begun, () => {
    const { status } = exchange
    if (status < 200 || status > 299) {
      const failed = statusFailed(status, exchange.header("retry-after"), lease.nowMs)
      if (!UNCLEAR.has(status)) return Effect.fail(failed)
      return Effect.flatMap(said(exchange, lease), (body) => Effect.fail(explained(failed, body)))
    }
    const encoding = exchange.header("content-encoding")
    return encoding === undefined || encoding === "identity" ? Effect.void : Effect.fail(callFailed("malformed"))
  })

/** Bytes of an error's body, and how long they may take. */
const MAX_ERROR_BYTES = 16 * 1024
const ERROR_TIME = Duration.seconds(1)

/** The value of an error's body, where it is short and comes soon. */
const said = (exchange: Exchange, lease: Lease): Effect.Effect<unknown> =>
  Effect.suspend(() => {
    const parts: Array<Buffer> = []
    let length = 0
    const read = exchange.each((bytes) => {
      if (bytes === undefined) return GO_ON
      parts.push(bytes)
      length += bytes.length
      return length > MAX_ERROR_BYTES ? ENOUGH : GO_ON
    })
    // What is missing makes it no JSON, and then the status alone counts.
    return Effect.map(Effect.ignore(Effect.raceFirst(read, lease.sleep(ERROR_TIME))), () =>
      parsed(Buffer.concat(parts).toString("utf8"))
    )
  })

const ENOUGH = Effect.succeed(false)

/** The value of an answer that is JSON. */
export const json = (exchange: Exchange, lease: Lease): Effect.Effect<unknown, CallFailed> =>
  Effect.flatMap(
    Effect.flatMap(checked(exchange, lease), () => exchange.whole),
    (bytes) => {
      const value = parsed(bytes.toString("utf8"))
      return value === undefined ? Effect.fail(callFailed("malformed")) : Effect.succeed(value)
    }
  )
