/**
 * Opens connections to PostgreSQL and closes silent ones: where a statement was sent and the server has sent nothing
 * for SILENT_MS, its callers fail as after a lost connection. A failover, a firewall that dropped the connection or a
 * frozen host closes no socket; without this, statements and the callers that share them would wait for ever.
 */
import { Duration, Effect, type Redacted, Redacted as Redact, Schedule } from "effect"
import { connect, type Socket } from "node:net"
import { Duplex } from "node:stream"
import { inWallTime, wallClock } from "../clock/WallTime.ts"

/** Longer than any statement of the server takes, its wait for locks included. */
const SILENT_MS = 30_000
/** A connection that only listens sends no statements: TCP keepalive detects that its server is gone. */
const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelay: 30_000 }
const NANOS_PER_MILLI = 1_000_000n
const CHECK_EVERY = Duration.seconds(2)

interface Watched {
  /** Milliseconds of the monotonic clock since which a reply is missing; undefined when none is. */
  askedAt: number | undefined
  /** Milliseconds of the monotonic clock at which data last arrived or the connection opened. */
  heardAt: number
  readonly socket: Duplex
}

/**
 * Returns a function that opens a connection to the server of `url`, watched until the scope closes; undefined where
 * `url` is no URL. Times are of the host's monotonic clock, so setting a clock has no effect.
 */
export const watchedSockets = Effect.fnUntraced(function* (url: Redacted.Redacted, silentMs = SILENT_MS) {
  const open = new Set<Watched>()
  const now = () => Number(wallClock.monotonicTimeNanosUnsafe() / NANOS_PER_MILLI)
  const closeSilent = Effect.sync(() => {
    const silent = [...open].flatMap(({ askedAt }) => askedAt ?? []).filter((askedAt) => now() - askedAt >= silentMs)
    if (silent.length === 0) return
    // The cause of one silent connection affects all connections silent since then, and their callers should not wait
    // as long.
    const since = Math.min(...silent)
    for (const { heardAt, socket } of open) {
      if (heardAt <= since) socket.destroy(new Error(`the database has not answered for ${silentMs / 1_000} s`))
    }
  })
  yield* Effect.repeat(closeSilent, Schedule.spaced(CHECK_EVERY)).pipe(inWallTime, Effect.forkScoped)
  const target = targetOf(Redact.value(url))
  // The client reports an invalid URL itself.
  if (target === undefined) return undefined
  return (): Duplex => {
    const raw = connect(target)
    const socket = target.tls ? new Relay(raw) : raw
    const watched: Watched = { askedAt: undefined, heardAt: now(), socket }
    open.add(watched)
    socket.on("close", () => open.delete(watched))
    raw.on("data", () => {
      watched.askedAt = undefined
      watched.heardAt = now()
    })
    const write = raw.write.bind(raw) as (...args: ReadonlyArray<unknown>) => boolean
    raw.write = (...args: ReadonlyArray<unknown>) => {
      watched.askedAt ??= now()
      return write(...args)
    }
    return socket
  }
})

/** Returns the target of the URL, as libpq reads it: a host that is a directory holds a socket. */
const targetOf = (text: string) => {
  const url = URL.parse(text)
  if (url === null) return undefined
  const host = url.searchParams.get("host") ?? decodeURIComponent(url.hostname).replace(/^\[|\]$/g, "")
  const port = Number(url.searchParams.get("port") ?? (url.port === "" ? 5432 : url.port))
  const tls = !["disable", null].includes(url.searchParams.get("sslmode"))
  return host.startsWith("/")
    ? { path: `${host}/.s.PGSQL.${port}`, tls }
    : { host: host === "" ? "localhost" : host, port, noDelay: true, ...KEEP_ALIVE, tls }
}

/**
 * Node's TLS layer bypasses the `write` of a plain socket and uses its handle. It writes to this stream, which calls
 * `write`.
 */
class Relay extends Duplex {
  readonly #socket: Socket

  constructor(socket: Socket) {
    super({ allowHalfOpen: false })
    this.#socket = socket
    socket.on("data", (bytes) => {
      if (!this.push(bytes)) socket.pause()
    })
    socket.on("end", () => this.push(null))
    socket.on("error", (error) => this.destroy(error))
    socket.on("close", () => this.destroy())
  }

  override _read(): void {
    this.#socket.resume()
  }

  override _write(bytes: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(bytes, done)
  }

  override _final(done: () => void): void {
    this.#socket.end(done)
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy()
    done(error)
  }
}
