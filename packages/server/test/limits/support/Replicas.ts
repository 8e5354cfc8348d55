/** Replicas that count in one Redis, each with its own connection, memory and log. */
import { RateLimits, type Sharing } from "@sluice/domain/limits/RateLimits"
import * as RedisRateLimits from "@sluice/server/limits/RedisRateLimits"
import { Context, Effect, Layer, Logger, Redacted } from "effect"
import { setTimeout as pause } from "node:timers/promises"

export interface Replica {
  readonly limits: RateLimits["Service"]
  /** Log lines: level and text. */
  readonly lines: ReadonlyArray<string>
}

/** Runs until the scope closes. */
export const replica = (url: string) =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const logger = Logger.make(({ logLevel, message }) => void lines.push(`${logLevel}: ${String(message)}`))
    const layer = RedisRateLimits.layer(Redacted.make(url)).pipe(Layer.provide(Logger.layer([logger])))
    const limits = Context.get(yield* Layer.build(layer), RateLimits)
    return { limits, lines } satisfies Replica
  })

/** Runs an effect synchronously; fails if the effect would wait. */
export const atOnce = <A>(effect: Effect.Effect<A>): Effect.Effect<A> => Effect.sync(() => Effect.runSync(effect))

/** Ends a hang, and nothing else. */
const LIMIT_MS = 240_000

/** Waits for a state, not for a time. */
export const until = (what: string, look: () => boolean | Promise<boolean>) =>
  Effect.promise(async () => {
    const end = performance.now() + LIMIT_MS
    while (!(await look())) {
      if (performance.now() > end) throw new Error(`${what} did not happen`)
      await pause(10)
    }
  })

export const becomes = ({ limits }: Replica, sharing: Sharing) =>
  until(`the limit is ${sharing}`, () => Effect.runSync(limits.sharing) === sharing)
