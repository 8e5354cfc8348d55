/**
 * An answer on an open socket, written without streams in between; an `AnswerWire` says what its text is.
 *
 * The head goes out with the first word, so a refusal before it is a plain answer with its status. The model waits while
 * the caller does not read; who does not read for STALL_MS is dropped. Silence is broken by a comment.
 */
import type { InferenceFailure } from "@sluice/api/inference/InferenceErrors"
import type { Answer, AnswerHead } from "@sluice/domain/inference/chat/Inference"
import { ClientStalled } from "@sluice/domain/models/InferenceErrors"
import type { ChatEvent } from "@sluice/domain/models/ModelProvider"
import { Clock, Effect } from "effect"
import type { ServerResponse } from "node:http"
import { wallClock } from "../../clock/WallTime.ts"

/** How long a caller may leave everything unread, and how long nothing may be sent. In the time of the network. */
export const STALL_MS = 30_000
export const SILENCE_MS = 15_000

/** A form of streamed answers: the text of what is to be sent, for one answer. */
export interface AnswerWire {
  /** Empty: nothing to send. */
  readonly events: (head: AnswerHead, events: ReadonlyArray<ChatEvent>) => string
  readonly end: (answer: Answer) => string
  readonly failure: (failure: InferenceFailure, requestId: string) => string
}

export class SseAnswer {
  private readonly response: ServerResponse
  private readonly wire: AnswerWire
  private readonly headers: Readonly<Record<string, string>>
  private readonly clock: Clock.Clock
  private wroteMs: number

  constructor(
    response: ServerResponse,
    wire: AnswerWire,
    headers: Readonly<Record<string, string>>,
    clock: Clock.Clock = wallClock
  ) {
    this.response = response
    this.wire = wire
    this.headers = headers
    this.clock = clock
    this.wroteMs = clock.currentTimeMillisUnsafe()
  }

  /** Whether the status is on its way, so that a failure can only be an event. */
  get begun(): boolean {
    return this.response.headersSent
  }

  /** Sends the text of some events; returns when the caller has room for more. */
  readonly emit = (head: AnswerHead, events: ReadonlyArray<ChatEvent>): Effect.Effect<void, ClientStalled> => {
    const text = this.wire.events(head, events)
    return text === "" || this.write(text) ? Effect.void : this.until("drain")
  }

  /** How it ended and what it cost. */
  complete(answer: Answer): void {
    this.write(this.wire.end(answer))
    this.response.end()
  }

  /** What failed, and the end. */
  fail(failure: InferenceFailure, requestId: string): void {
    this.write(this.wire.failure(failure, requestId))
    if (failure._tag === "ClientStalled") this.response.destroy()
    else this.response.end()
  }

  /** Ends an answer that was interrupted. A caller that is gone is told nothing; one that is there learns that it is cut. */
  stop(requestId: string): void {
    if (this.begun && !this.response.writableEnded && !this.response.destroyed)
      this.fail({ _tag: "ServerStopping" }, requestId)
  }

  /** A comment, where it has been silent for long. To be called again and again. */
  readonly beat = (): void => {
    if (this.clock.currentTimeMillisUnsafe() - this.wroteMs < SILENCE_MS) return
    // Who does not read needs no comment.
    if (!this.response.writableNeedDrain && !this.response.writableEnded) this.write(": waiting\n\n")
  }

  /** Returns when the end has left us, or when its reader was dropped. */
  sent(): Effect.Effect<void> {
    if (this.response.writableLength === 0 || this.response.destroyed) return Effect.void
    return this.until("finish").pipe(Effect.catchTag("ClientStalled", () => Effect.sync(() => this.response.destroy())))
  }

  private write(text: string): boolean {
    this.wroteMs = this.clock.currentTimeMillisUnsafe()
    if (!this.response.headersSent) this.response.writeHead(200, { ...this.headers, ...EVENT_STREAM })
    return this.response.write(text)
  }

  private until(event: "drain" | "finish"): Effect.Effect<void, ClientStalled> {
    return Effect.callback<void>((resume) => {
      const onEvent = () => resume(Effect.void)
      this.response.once(event, onEvent)
      return Effect.sync(() => this.response.off(event, onEvent))
    }).pipe(
      Effect.timeoutOrElse({ duration: STALL_MS, orElse: () => Effect.fail(new ClientStalled()) }),
      Effect.provideService(Clock.Clock, this.clock)
    )
  }
}

const EVENT_STREAM = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no"
}
