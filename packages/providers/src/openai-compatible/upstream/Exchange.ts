/**
 * One request to an upstream and its answer, as undici calls it back. Who reads waits for the head and then for the next
 * bytes; while nobody reads, at most HELD_BYTES are kept and the upstream waits. It ends when the answer has, when it is
 * aborted, when the upstream is silent for too long, or when the answer is larger than was allowed.
 */
import { Effect, Exit } from "effect"
import type { Dispatcher } from "undici"
import { flatMapSync, exitIfSettled } from "@sluice/domain/runtime/SyncFastPath"
import { callFailed, type CallFailed } from "./CallFailed.ts"

/** Bytes that wait for their reader before the upstream does. */
const HELD_BYTES = 64 * 1024
/** Bytes of an answer that nobody wants, read so that its connection can be used again. */
const DROPPED_BYTES = 64 * 1024

type Headers = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

export class Exchange implements Dispatcher.DispatchHandler {
  /** 0: the answer has not begun. */
  status = 0
  /** The answer has ended, for good or not. */
  over = false
  /** Why it ended before its end. */
  failure: CallFailed | undefined

  private readonly mostBytes: number
  private readonly settled: () => void
  private controller: Dispatcher.DispatchController | undefined
  private headers: Headers = {}
  private parts: Array<Buffer> = []
  private held = 0
  private received = 0
  private paused = false
  private unwanted: "no" | "rest" | "all" = "no"
  private wake: (() => void) | undefined
  /** Who takes what comes where it comes in. */
  private tap: ((bytes: Buffer) => void) | undefined

  /** `settled` is called once, when the connection is free again or gone. */
  constructor(mostBytes: number, settled: () => void) {
    this.mostBytes = mostBytes
    this.settled = settled
  }

  /** Returns when the answer has begun. */
  readonly begun: Effect.Effect<void, CallFailed> = Effect.suspend(() => {
    if (this.status !== 0) return Effect.void
    return this.failure === undefined ? Effect.flatMap(this.next, () => this.begun) : Effect.fail(this.failure)
  })

  /** The next bytes of the answer; undefined: it has ended. */
  readonly read: Effect.Effect<Buffer | undefined, CallFailed> = Effect.suspend(() => {
    if (this.parts.length > 0) return Effect.succeed(this.take())
    if (this.failure !== undefined) return Effect.fail(this.failure)
    return this.over ? Effect.undefined : Effect.flatMap(this.next, () => this.read)
  })

  /**
   * Hands each piece of the answer on as it comes, and undefined at its end, until `take` is through. While what `take` gave
   * is not done nothing is handed on; where it is done at once, no fiber turns for the piece.
   */
  each<E>(take: Take<E>): Effect.Effect<void, CallFailed | E> {
    return Effect.suspend(() => {
      while (this.parts.length > 0) {
        const taken = take(this.take())
        const done = exitIfSettled(taken)
        if (done === undefined || Exit.isFailure(done)) return this.after(taken, take)
        if (!done.value) return Effect.void
      }
      if (this.failure !== undefined) return Effect.fail(this.failure)
      return this.over
        ? Effect.asVoid(take(undefined))
        : Effect.flatMap(this.pieces(take), (taken) => this.after(taken, take))
    })
  }

  /** All of the answer. */
  readonly whole: Effect.Effect<Buffer, CallFailed> = Effect.suspend(() => {
    const all: Array<Buffer> = []
    const gathered = this.each((bytes) => {
      if (bytes !== undefined) all.push(bytes)
      return GO_ON
    })
    return Effect.as(gathered, all)
  }).pipe(Effect.map((all) => (all.length === 1 ? all[0]! : Buffer.concat(all))))

  header(name: string): string | undefined {
    const value = this.headers[name]
    return typeof value === "string" ? value : value?.[0]
  }

  /** Nobody wants the rest: the connection may be used again if that is short. */
  leave(): void {
    if (this.over || this.unwanted !== "no") return
    this.unwanted = "rest"
    this.received = 0
    this.parts = []
    this.resume()
  }

  /** Hangs up. */
  abort(): void {
    if (this.over || this.unwanted === "all") return
    this.unwanted = "all"
    this.parts = []
    this.controller?.abort(GONE)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller
    if (this.unwanted === "all") controller.abort(GONE)
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Headers): void {
    if (status < 200) return
    this.status = status
    this.headers = headers
    this.notify()
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.received += chunk.length
    if (this.unwanted !== "no") {
      if (this.received > DROPPED_BYTES) this.abort()
      return
    }
    if (this.received > this.mostBytes) {
      this.failure = callFailed("malformed")
      this.parts = []
      this.abort()
      this.notify()
      return
    }
    if (this.tap !== undefined) return this.tap(chunk)
    this.parts.push(chunk)
    this.held += chunk.length
    this.notify()
    // Who was waiting has taken them by now.
    if (this.held > HELD_BYTES) {
      this.paused = true
      controller.pause()
    }
  }

  onResponseEnd(): void {
    this.end(undefined)
  }

  onResponseError(_: Dispatcher.DispatchController | undefined, error: Error): void {
    this.end(callFailed(faultOf(error, this.controller !== undefined, this.status !== 0)))
  }

  private after<E>(taken: Effect.Effect<boolean, E>, take: Take<E>): Effect.Effect<void, CallFailed | E> {
    return flatMapSync(taken, (more) => (more ? this.each(take) : Effect.void))
  }

  /** Hands pieces on where they come in, until one of them is not done at once, or there are no more. */
  private pieces<E>(take: Take<E>): Effect.Effect<Effect.Effect<boolean, E>> {
    return Effect.callback((resume) => {
      this.tap = (bytes) => {
        const taken = attempt(take, bytes)
        const done = exitIfSettled(taken)
        if (done !== undefined && Exit.isSuccess(done) && done.value) return
        this.tap = undefined
        resume(Effect.succeed(taken))
      }
      this.wake = () => {
        this.tap = undefined
        resume(Effect.succeed(GO_ON))
      }
      return Effect.sync(() => {
        this.tap = undefined
        this.wake = undefined
      })
    })
  }

  private readonly next: Effect.Effect<void> = Effect.callback((resume) => {
    this.wake = () => resume(Effect.void)
    return Effect.sync(() => {
      this.wake = undefined
    })
  })

  private end(failure: CallFailed | undefined): void {
    if (this.over) return
    this.over = true
    this.failure ??= failure
    this.settled()
    this.notify()
  }

  private notify(): void {
    const { wake } = this
    this.wake = undefined
    wake?.()
  }

  private take(): Buffer {
    const { parts } = this
    this.parts = []
    this.held = 0
    this.resume()
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts)
  }

  /** Never from within a parser of undici's: one of them may be what called us. */
  private resume(): void {
    if (!this.paused) return
    this.paused = false
    queueMicrotask(() => this.controller?.resume())
  }
}

/** False: through, it wants no more. */
export type Take<E> = (bytes: Buffer | undefined) => Effect.Effect<boolean, E>

/** What a take that wants more answers. */
export const GO_ON = Effect.succeed(true)

/** What is thrown must not reach the parser that calls us. */
const attempt = <E>(take: Take<E>, bytes: Buffer): Effect.Effect<boolean, E> => {
  try {
    return take(bytes)
  } catch (defect) {
    return Effect.die(defect)
  }
}

const GONE = new Error("nobody waits for this answer")

const faultOf = (error: Error, sent: boolean, answering: boolean) => {
  const code = "code" in error ? error.code : undefined
  if (!sent) return "unreachable"
  if (code === "UND_ERR_HEADERS_TIMEOUT" || code === "UND_ERR_BODY_TIMEOUT") return "timeout"
  if (answering) return "cut"
  return code === "ECONNRESET" || code === "EPIPE" || code === "UND_ERR_SOCKET" ? "lost" : "malformed"
}
