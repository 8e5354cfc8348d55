/** What an answer must be before it is read: a success, not encoded, and for JSON no page of somebody in between. */
import { Effect } from "effect"
import { callFailed, type CallFailed, statusFailed } from "./CallFailed.ts"
import type { Exchange } from "./Exchange.ts"
import { parsed } from "./Loose.ts"
import type { Lease } from "./Upstreams.ts"

/** Waits until the answer begins; no redirect is followed. */
export const checked = (exchange: Exchange, lease: Lease): Effect.Effect<void, CallFailed> =>
  Effect.flatMap(exchange.begun, () => {
    const { status } = exchange
    if (status < 200 || status > 299) {
      return Effect.fail(statusFailed(status, exchange.header("retry-after"), lease.nowMs))
    }
    const encoding = exchange.header("content-encoding")
    return encoding === undefined || encoding === "identity" ? Effect.void : Effect.fail(callFailed("malformed"))
  })

/** The value of an answer that is JSON. */
export const json = (exchange: Exchange, lease: Lease): Effect.Effect<unknown, CallFailed> =>
  Effect.flatMap(
    Effect.flatMap(checked(exchange, lease), () => exchange.whole),
    (bytes) => {
      const value = parsed(bytes.toString("utf8"))
      return value === undefined ? Effect.fail(callFailed("malformed")) : Effect.succeed(value)
    }
  )
