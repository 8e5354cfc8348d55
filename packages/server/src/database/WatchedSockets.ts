/**
 * Connections to PostgreSQL, watched: one whose server was asked something and has said nothing for SILENT_MS is given up, and
 * what waits for it fails as for a lost connection. A failover, a firewall that forgot the connection or a machine that stands
 * still close no socket: without this their statements would wait for ever, and those who share them.
 */
import { Duration, Effect, type Redacted, Redacted as Redact, Schedule } from "effect"
import { connect, type Socket } from "node:net"
import { Duplex } from "node:stream"
import { inWallTime, wallClock } from "../clock/WallTime.ts"

/** Longer than any statement of ours takes, its wait for locks included. */
const SILENT_MS = 30_000
/** A connection that only listens is asked nothing: the system finds out that its server has gone. */
const KEPT = { keepAlive: true, keepAliveInitialDelay: 30_000 }
const NANOS_PER_MILLI = 1_000_000n
const LOOK_EVERY = Duration.seconds(2)

interface Watched {
  /** Since when an answer is missing, in milliseconds of the monotonic clock; undefined: none is. */
  askedAt: number | undefined
  /** When it last said something, or began. */
  heardAt: number
  readonly socket: Duplex
}

/** Gives connections to the server of `url` until the scope closes. Time is the host's, and no clock that is set counts. */
export const watchedSockets = Effect.fnUntraced(function* (url: Redacted.Redacted, silentMs = SILENT_MS) {
  const open = new Set<Watched>()
  const now = () => Number(wallClock.monotonicTimeNanosUnsafe() / NANOS_PER_MILLI)
  const look = Effect.sync(() => {
    const silent = [...open].flatMap(({ askedAt }) => askedAt ?? []).filter((askedAt) => now() - askedAt >= silentMs)
    if (silent.length === 0) return
    // What befell one has befallen those that were not heard since, and nobody should wait for them as long.
    const since = Math.min(...silent)
    for (const { heardAt, socket } of open) {
      if (heardAt <= since) socket.destroy(new Error(`the database has not answered for ${silentMs / 1_000} s`))
    }
  })
  yield* Effect.repeat(look, Schedule.spaced(LOOK_EVERY)).pipe(inWallTime, Effect.forkScoped)
  const target = targetOf(Redact.value(url))
  // What is no address, the client says in its own words.
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

/** Where the URL leads, as libpq reads it: a host that is a directory holds a socket. */
const targetOf = (text: string) => {
  const url = URL.parse(text)
  if (url === null) return undefined
  const host = url.searchParams.get("host") ?? decodeURIComponent(url.hostname).replace(/^\[|\]$/g, "")
  const port = Number(url.searchParams.get("port") ?? (url.port === "" ? 5432 : url.port))
  const tls = !["disable", null].includes(url.searchParams.get("sslmode"))
  return host.startsWith("/")
    ? { path: `${host}/.s.PGSQL.${port}`, tls }
    : { host: host === "" ? "localhost" : host, port, noDelay: true, ...KEPT, tls }
}

/** TLS writes past a socket; through this it does not. */
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
