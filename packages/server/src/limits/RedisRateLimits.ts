/**
 * One rate limit for all replicas, counted in Redis. What is asked in one turn of the event loop goes out as one command,
 * and nobody waits for an earlier one: so the bound of a command is all that a request can wait.
 *
 * Redis gone, slow or refusing: from the first such answer on this replica counts for itself, without asking, until Redis
 * works again (`RedisLink`). It goes on from what it knows of each window, and hands that in when Redis is back: the limit
 * holds per replica all the while, and a change of counting gives nobody a second window.
 */
import { verdictOf, type Verdict } from "@sluice/domain/limits/RateLimit"
import { RateLimits } from "@sluice/domain/limits/RateLimits"
import { Windows } from "@sluice/domain/limits/Windows"
import { Cause, Clock, Duration, Effect, Layer, Option, type Redacted } from "effect"
import { hash } from "node:crypto"
import { inWallTime } from "../clock/WallTime.ts"
import { count } from "./RateScript.ts"
import { type Connection, connect, RedisLost } from "./RedisLink.ts"

/** Half of the time that Redis may take; a healthy one takes less than a millisecond. */
const HALF_OF_WAIT = Duration.millis(125)
/** Requests of one command: Redis does nothing else meanwhile. */
const MAX_ROWS = 128
/** Requests that wait for Redis at most; what comes on top is counted here at once. */
export const MAX_WAITING = 4_096

/** Ids of keys are not for whoever may look into this Redis. */
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
      const link = yield* connect(url, works)
      const run = Effect.runForkWith(yield* Effect.context<never>())
      let queue: Array<Waiting> = []
      let waiting = 0

      const counted = (rows: ReadonlyArray<Waiting>, connection: Connection) =>
        Effect.matchCause(
          within(
            Effect.suspend(() => {
              const asked = rows.map(({ key, limit, nowMs }) => ({
                name: nameOf(key),
                limit,
                nowMs,
                known: windows.get(key)
              }))
              return count(connection, asked)
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
            run(counted(rows, connection)).addObserver(() => (waiting -= rows.length))
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

const within = <A>(asking: Effect.Effect<A, RedisLost>): Effect.Effect<A, RedisLost> =>
  inWallTime(Effect.raceFirst(asking, late))

/** In two halves: after a stall of this process, sockets are read between them, and Redis is not blamed for it. */
const half = Effect.sleep(HALF_OF_WAIT)
const late = half.pipe(Effect.andThen(half), Effect.andThen(Effect.fail(new RedisLost({ reason: "no answer" }))))

/** Runs the script on a key of no caller: it is loaded then, and Redis can run it and write. */
const works = (connection: Connection) =>
  within(count(connection, [{ name: nameOf(""), limit: 1, nowMs: 0, known: undefined }]))
