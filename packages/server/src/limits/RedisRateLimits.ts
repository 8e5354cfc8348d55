/**
 * Counts one rate limit for all replicas in Redis. The requests of one turn of the event loop share one command, and no
 * command waits for an earlier one: a request waits at most for the timeout of one command.
 *
 * Fallback: when Redis is lost, slow or refuses, this replica counts by itself until `RedisLink` has a connection
 * again. It continues from the windows that it knows, and sends them when Redis is back. The limit then holds per
 * replica, and a change between the two ways of counting opens no second window.
 */
import { verdictOf, type Verdict } from "@sluice/domain/limits/RateLimit"
import { RateLimits } from "@sluice/domain/limits/RateLimits"
import { Windows } from "@sluice/domain/limits/Windows"
import { Cause, Clock, Duration, Effect, Layer, Option, type Redacted } from "effect"
import { hash } from "node:crypto"
import { inWallTime } from "../clock/WallTime.ts"
import { count } from "./RateScript.ts"
import { type Connection, connect, RedisLost } from "./RedisLink.ts"

/** Half of the timeout of a command. A healthy Redis answers within a millisecond. */
const HALF_OF_WAIT = Duration.millis(125)
/** Requests in one command. Redis runs nothing else during the script. */
const MAX_ROWS = 128
/** Requests that wait for Redis at the same time. Further requests are counted in this process at once. */
export const MAX_WAITING = 4_096

/** A hash instead of the key's id: users of this Redis must not learn the ids. */
export const nameOf = (key: string): string => `sluice:rate:${hash("sha256", key, "base64url").slice(0, 22)}`

interface Waiting {
  readonly key: string
  readonly limit: number
  readonly nowMs: number
  readonly resume: (answer: Effect.Effect<Verdict>) => void
}

export const layer = (url: Redacted.Redacted) =>
  Layer.effect(
    RateLimits,
    Effect.gen(function* () {
      const windows = new Windows()
      const link = yield* connect(url, checkRedis)
      const run = Effect.runForkWith(yield* Effect.context<never>())
      let queue: Array<Waiting> = []
      let waiting = 0

      const countInRedis = (rows: ReadonlyArray<Waiting>, connection: Connection) =>
        Effect.matchCause(
          within(
            Effect.suspend(() => {
              const requests = rows.map(({ key, limit, nowMs }) => ({
                name: nameOf(key),
                limit,
                nowMs,
                known: windows.get(key)
              }))
              return count(connection, requests)
            })
          ),
          {
            onSuccess: (answers) =>
              answers.forEach(({ admitted, window }, i) => {
                const { key, limit, nowMs, resume } = rows[i]!
                windows.learn(key, window, nowMs)
                resume(Effect.succeed(verdictOf(window, admitted, limit, nowMs)))
              }),
            onFailure: (cause) => {
              const lost = Option.getOrUndefined(Cause.findErrorOption(cause))
              connection.giveUp(lost?.reason ?? "a defect")
              rows.forEach(countHere)
            }
          }
        )

      const countHere = ({ key, limit, nowMs, resume }: Waiting) =>
        resume(Effect.succeed(windows.consume(key, limit, nowMs)))

      const flush = () => {
        const all = queue
        queue = []
        for (let from = 0; from < all.length; from += MAX_ROWS) {
          const rows = all.slice(from, from + MAX_ROWS)
          const { connection } = link
          if (connection === undefined) {
            waiting -= rows.length
            rows.forEach(countHere)
          } else {
            run(countInRedis(rows, connection)).addObserver(() => (waiting -= rows.length))
          }
        }
      }

      const consume = (key: string, limit: number) =>
        Clock.clockWith((clock) => {
          const nowMs = clock.currentTimeMillisUnsafe()
          if (link.connection === undefined || waiting >= MAX_WAITING) {
            return Effect.succeed(windows.consume(key, limit, nowMs))
          }
          return Effect.callback<Verdict>((resume) => {
            waiting += 1
            queue.push({ key, limit, nowMs, resume })
            if (queue.length === 1) run(Effect.yieldNow).addObserver(flush)
          })
        })

      const sharing = Effect.sync(() => (link.connection === undefined ? "lost" : "shared"))
      return { consume, sharing }
    })
  )

const within = <A>(command: Effect.Effect<A, RedisLost>): Effect.Effect<A, RedisLost> =>
  inWallTime(Effect.raceFirst(command, timeout))

/**
 * The timeout sleeps in two halves. After a stall of this process the event loop reads sockets between the halves, so a
 * reply that has arrived is not taken for a timeout of Redis.
 */
const half = Effect.sleep(HALF_OF_WAIT)
const timeout = half.pipe(Effect.andThen(half), Effect.andThen(Effect.fail(new RedisLost({ reason: "no answer" }))))

/** Runs the script on a key that no caller has. That loads the script, and proves that Redis can run it and write. */
const checkRedis = (connection: Connection) =>
  within(count(connection, [{ name: nameOf(""), limit: 1, nowMs: 0, known: undefined }]))
