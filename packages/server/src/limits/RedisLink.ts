/**
 * One connection to Redis, reconnected for as long as the scope lives. The pauses between attempts grow to 5 s, and
 * each attempt has a timeout. The connection is published after a check command succeeded, and withdrawn as soon as a
 * caller gives it up, so no request waits for a lost Redis.
 *
 * Timeouts and pauses are in real time, whatever the service's clock. Messages of Redis and of its client are not
 * passed on: an old Redis repeats an unknown command, which may contain a password. `RedisLost` holds only a code.
 */
import type { createClient } from "@redis/client"
import { Cause, Clock, Deferred, Duration, Effect, Redacted, Schema, type Scope } from "effect"
import { inWallTime } from "../clock/WallTime.ts"
import { redisAddressOf } from "./RedisAddress.ts"

/** Redis refused a command, or the connection is lost. `reason`: an error code, or a short text of this module. */
export class RedisLost extends Schema.TaggedError<RedisLost>()("RedisLost", { reason: Schema.String }) {}

export interface Connection {
  readonly send: (command: ReadonlyArray<string>) => Effect.Effect<unknown, RedisLost>
  /** Closes the connection: its pending commands fail, and a new connection is opened. */
  readonly giveUp: (reason: string) => void
}

export interface RedisLink {
  /** Undefined while there is no connection. */
  readonly connection: Connection | undefined
}

/**
 * Timeout of opening the socket. It is shorter than `CONNECT_WITHIN`: only the client's own timeout closes a socket
 * that is still opening.
 */
const OPEN_WITHIN_MS = 1_000
const CONNECT_WITHIN = Duration.millis(1_250)
/** Interval of the check that an idle connection still works. */
const CHECK_EVERY = Duration.seconds(5)
/** After a connection that lived this long, attempts start again with the shortest pause. */
const STEADY_MS = 10_000
const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 5_000

/** Milliseconds until the next attempt. `failures`: failed attempts in a row before the last one. */
export const pauseMs = (failures: number): number => Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures)

/**
 * Connects in the background, and returns when the first attempt has succeeded or failed. `check` is the command that
 * proves that the connection is usable; it must have a timeout.
 */
export const connect = (
  url: Redacted.Redacted,
  check: (connection: Connection) => Effect.Effect<unknown, RedisLost>
): Effect.Effect<RedisLink, never, Scope.Scope> =>
  Effect.gen(function* () {
    const redis = yield* Effect.promise(() => import("@redis/client"))
    const link: { connection: Connection | undefined } = { connection: undefined }
    const firstAttempt = yield* Deferred.make<void>()
    const where = `Redis at ${redisAddressOf(url)}`
    let lastLogged: boolean | undefined
    const logChange = (isConnected: boolean, line: Effect.Effect<void>) =>
      Effect.suspend(() => {
        if (lastLogged === isConnected) return Effect.void
        lastLogged = isConnected
        return line
      })

    const session = Effect.gen(function* () {
      const lost = Deferred.makeUnsafe<string>()
      const client = yield* openClient(redis.createClient, url)
      const connection: Connection = {
        send: (command) => Effect.tryPromise({ try: () => client.sendCommand(command), catch: toRedisLost }),
        giveUp: (reason) => {
          if (link.connection === connection) link.connection = undefined
          Deferred.doneUnsafe(lost, Effect.succeed(reason))
        }
      }
      client.on("error", (error: unknown) => connection.giveUp(toRedisLost(error).reason))
      yield* check(connection)
      if (!Deferred.isDoneUnsafe(lost)) link.connection = connection
      yield* logChange(true, Effect.logInfo(`Rate limits are shared through ${where}`))
      yield* Deferred.succeed(firstAttempt, undefined)
      const checks = Effect.forever(Effect.andThen(Effect.sleep(CHECK_EVERY), check(connection)))
      return yield* Effect.raceFirst(Deferred.await(lost), checks)
    }).pipe(
      Effect.scoped,
      Effect.catchCause((cause) =>
        Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effect.succeed(toRedisLost(Cause.squash(cause)).reason)
      ),
      Effect.onExit(() => Effect.sync(() => (link.connection = undefined)))
    )

    const reconnectLoop = Effect.gen(function* () {
      let failures = 0
      for (;;) {
        const began = yield* Clock.currentTimeMillis
        const reason = yield* session
        const message = `${where} is lost (${reason}): each replica counts rate limits by itself until the connection is back`
        yield* logChange(false, Effect.logWarning(message))
        yield* Deferred.succeed(firstAttempt, undefined)
        if ((yield* Clock.currentTimeMillis) - began >= STEADY_MS) failures = 0
        yield* Effect.sleep(Duration.millis(pauseMs(failures++)))
      }
    })
    yield* Effect.forkScoped(reconnectLoop)
    yield* Deferred.await(firstAttempt)
    return link
  }).pipe(inWallTime)

/** A client that does not queue commands, does not reconnect and sends no command of its own. */
const openClient = (create: typeof createClient, url: Redacted.Redacted) =>
  Effect.suspend(() => {
    const client = create({
      url: Redacted.value(url),
      RESP: 2,
      disableOfflineQueue: true,
      disableClientInfo: true,
      maintNotifications: "disabled",
      // The client's own timeout ends when a command is written. The callers' timeouts include the reply.
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
      // Closed again when the attempt has ended: the client closes a socket that was still opening only then.
      () => Effect.sync(() => (close(), void connecting.then(close, close)))
    ).pipe(
      Effect.tap(() =>
        Effect.tryPromise({ try: () => connecting, catch: toRedisLost }).pipe(
          Effect.timeoutOrElse({
            duration: CONNECT_WITHIN,
            orElse: () => Effect.fail(new RedisLost({ reason: "no answer" }))
          })
        )
      )
    )
  })

/** Returns the system's or Redis's error code, else the name of the client's error class. */
const toRedisLost = (cause: unknown): RedisLost => {
  if (cause instanceof RedisLost) return cause
  if (!(cause instanceof Error)) return new RedisLost({ reason: "unknown" })
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : undefined
  const prefix = /^[A-Z]{3,20}(?= )/.exec(cause.message)?.[0]
  return new RedisLost({ reason: code ?? prefix ?? cause.constructor.name })
}
