/**
 * Writes an answer as server-sent events on a socket, without streams in between. An `AnswerWire` makes the text.
 *
 * The head is sent with the first event, so an earlier refusal is an ordinary response with its status. Backpressure of
 * the caller reaches the model; a caller that reads nothing for STALL_MS is disconnected. A comment breaks long
 * silence.
 */
import { ServerStopping } from "@sluice/api/inference/EdgeFailures"
import type { InferenceFailure } from "@sluice/api/inference/InferenceErrorTable"
import type { Answer, AnswerHead } from "@sluice/domain/inference/chat/Inference"
import { ClientStalled } from "@sluice/domain/models/InferenceErrors"
import type { ChatEvent } from "@sluice/domain/models/ModelProvider"
import { Clock, Effect } from "effect"
import type { ServerResponse } from "node:http"
import { wallClock } from "../../clock/WallTime.ts"

/**
 * Milliseconds that a caller may leave everything unread, and milliseconds without an event until a comment is sent.
 * Both in wall time.
 */
export const STALL_MS = 30_000
export const SILENCE_MS = 15_000

/** One form of streamed answers: makes the text of one answer's events. */
export interface AnswerWire {
  /** Returns an empty text where there is nothing to send. */
  readonly events: (head: AnswerHead, events: ReadonlyArray<ChatEvent>) => string
  readonly end: (answer: Answer) => string
  readonly failure: (failure: InferenceFailure, requestId: string) => string
}

export class SseAnswer {
  private readonly response: ServerResponse
  private readonly wire: AnswerWire
  private readonly headers: Readonly<Record<string, string>>
  private readonly clock: Clock.Clock
  private lastWriteMs: number

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
    this.lastWriteMs = clock.currentTimeMillisUnsafe()
  }

  /** The head has been sent, so a failure can only be an event. */
  get isStarted(): boolean {
    return this.response.headersSent
  }

  /** Sends the text of the events; returns when the socket accepts more. */
  readonly emit = (head: AnswerHead, events: ReadonlyArray<ChatEvent>): Effect.Effect<void, ClientStalled> => {
    const text = this.wire.events(head, events)
    return text === "" || this.write(text) ? Effect.void : this.until("drain")
  }

  /** Sends the end of the answer with its usage. */
  complete(answer: Answer): void {
    this.write(this.wire.end(answer))
    this.response.end()
  }

  /** Sends the failure and ends the response. */
  fail(failure: InferenceFailure, requestId: string): void {
    this.write(this.wire.failure(failure, requestId))
    if (failure._tag === "ClientStalled") this.response.destroy()
    else this.response.end()
  }

  /** Ends an interrupted answer with an error event. A disconnected caller gets nothing. */
  stop(requestId: string): void {
    if (this.isStarted && !this.response.writableEnded && !this.response.destroyed)
      this.fail(new ServerStopping(), requestId)
  }

  /** Sends a comment after a long silence. Call it repeatedly. */
  readonly beat = (): void => {
    if (this.clock.currentTimeMillisUnsafe() - this.lastWriteMs < SILENCE_MS) return
    // A caller that does not read needs no comment.
    if (!this.response.writableNeedDrain && !this.response.writableEnded) this.write(": waiting\n\n")
  }

  /** Returns when the end has been sent, or when the caller was disconnected. */
  awaitSent(): Effect.Effect<void> {
    if (this.response.writableLength === 0 || this.response.destroyed) return Effect.void
    return this.until("finish").pipe(Effect.catchTag("ClientStalled", () => Effect.sync(() => this.response.destroy())))
  }

  private write(text: string): boolean {
    this.lastWriteMs = this.clock.currentTimeMillisUnsafe()
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
