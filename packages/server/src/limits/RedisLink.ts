/**
 * Is there a Redis to ask just now? One connection, opened again for as long as the scope lives: tries come ever later, up
 * to one in 5 s, and each has its bounds. A connection is there only after Redis has done what is wanted of it, and gone
 * the moment anybody gives it up: then nobody waits for it.
 *
 * Waits are in real time, whatever the service's clock. What Redis or its client say is not passed on: an old Redis repeats
 * a command that it does not know, and a password in it. `RedisLost` holds a code alone.
 */
import type { createClient } from "@redis/client"
import { Cause, Clock, Deferred, Duration, Effect, Redacted, Schema, type Scope } from "effect"
import { inWallTime } from "../clock/WallTime.ts"
import { redisAddressOf } from "./RedisAddress.ts"

/** Redis refused, or the connection to it is gone. `reason`: a code, or words of ours. */
export class RedisLost extends Schema.TaggedError<RedisLost>()("RedisLost", { reason: Schema.String }) {}

export interface Connection {
  readonly send: (command: ReadonlyArray<string>) => Effect.Effect<unknown, RedisLost>
  /** It is of no use any more: what it still owes is failed, and another one is opened. */
  readonly giveUp: (reason: string) => void
}

export interface RedisLink {
  /** Undefined while there is none. */
  readonly connection: Connection | undefined
}

/** Until the socket is open. The client's own bound ends first: only then does it close a socket that is still opening. */
const OPEN_WITHIN_MS = 1_000
const CONNECT_WITHIN = Duration.millis(1_250)
/** How often it is looked whether Redis still works, where nobody else asks. */
const LOOK_EVERY = Duration.seconds(5)
/** A connection that held so long was a good one: after it tries begin again at the shortest pause. */
const STEADY_MS = 10_000
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000

/** How long to wait for the next try; `failures`: how many in a row came to nothing before the last one. */
export const pauseMs = (failures: number): number => Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures)

/** Returns when the first try has succeeded or failed. `works`: asks Redis for what is wanted of it, within a bound. */
export const connect = (
  url: Redacted.Redacted,
  works: (connection: Connection) => Effect.Effect<unknown, RedisLost>
): Effect.Effect<RedisLink, never, Scope.Scope> =>
  Effect.gen(function* () {
    const redis = yield* Effect.promise(() => import("@redis/client"))
    const link: { connection: Connection | undefined } = { connection: undefined }
    const tried = yield* Deferred.make<void>()
    const where = `Redis at ${redisAddressOf(url)}`
    let said: boolean | undefined
    const say = (connected: boolean, line: Effect.Effect<void>) =>
      Effect.suspend(() => {
        if (said === connected) return Effect.void
        said = connected
        return line
      })

    const session = Effect.gen(function* () {
      const lost = Deferred.makeUnsafe<string>()
      const client = yield* opened(redis.createClient, url)
      const connection: Connection = {
        send: (command) => Effect.tryPromise({ try: () => client.sendCommand(command), catch: lostBy }),
        giveUp: (reason) => {
          if (link.connection === connection) link.connection = undefined
          Deferred.doneUnsafe(lost, Effect.succeed(reason))
        }
      }
      client.on("error", (error: unknown) => connection.giveUp(lostBy(error).reason))
      yield* works(connection)
      if (!Deferred.isDoneUnsafe(lost)) link.connection = connection
      yield* say(true, Effect.logInfo(`Rate limits are shared through ${where}`))
      yield* Deferred.succeed(tried, undefined)
      const looks = Effect.forever(Effect.andThen(Effect.sleep(LOOK_EVERY), works(connection)))
      return yield* Effect.raceFirst(Deferred.await(lost), looks)
    }).pipe(
      Effect.scoped,
      Effect.catchCause((cause) =>
        Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effect.succeed(lostBy(Cause.squash(cause)).reason)
      ),
      Effect.onExit(() => Effect.sync(() => (link.connection = undefined)))
    )

    const forever = Effect.gen(function* () {
      let failures = 0
      for (;;) {
        const began = yield* Clock.currentTimeMillis
        const reason = yield* session
        const words = `${where} is lost (${reason}): each replica counts rate limits for itself until it is back`
        yield* say(false, Effect.logWarning(words))
        yield* Deferred.succeed(tried, undefined)
        if ((yield* Clock.currentTimeMillis) - began >= STEADY_MS) failures = 0
        yield* Effect.sleep(Duration.millis(pauseMs(failures++)))
      }
    })
    yield* Effect.forkScoped(forever)
    yield* Deferred.await(tried)
    return link
  }).pipe(inWallTime)

/** A client that does not queue, does not come back by itself and asks nothing of its own accord. */
const opened = (create: typeof createClient, url: Redacted.Redacted) =>
  Effect.suspend(() => {
    const client = create({
      url: Redacted.value(url),
      RESP: 2,
      disableOfflineQueue: true,
      disableClientInfo: true,
      maintNotifications: "disabled",
      // Its own bound ends where a command is written; ours is around the answer.
      commandOptions: { timeout: 0 },
      socket: { reconnectStrategy: false, connectTimeout: OPEN_WITHIN_MS }
    })
    client.on("error", () => {})
    let connecting: Promise<unknown> = Promise.resolve()
    const close = () => client.destroy()
    return Effect.acquireRelease(
      Effect.sync(() => {
        connecting = client.connect()
        return client
      }),
      // Again when the try has ended: a socket that was still opening is closed only then.
      () => Effect.sync(() => (close(), void connecting.then(close, close)))
    ).pipe(
      Effect.tap(() =>
        Effect.tryPromise({ try: () => connecting, catch: lostBy }).pipe(
          Effect.timeoutOrElse({
            duration: CONNECT_WITHIN,
            orElse: () => Effect.fail(new RedisLost({ reason: "no answer" }))
          })
        )
      )
    )
  })

/** The code of a system's or of Redis's error; else the name of the client's own. */
const lostBy = (cause: unknown): RedisLost => {
  if (cause instanceof RedisLost) return cause
  if (!(cause instanceof Error)) return new RedisLost({ reason: "unknown" })
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : undefined
  const said = /^[A-Z]{3,20}(?= )/.exec(cause.message)?.[0]
  return new RedisLost({ reason: code ?? said ?? cause.constructor.name })
}
