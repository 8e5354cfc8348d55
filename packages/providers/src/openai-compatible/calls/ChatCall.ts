/**
 * One chat with one upstream, from the question to its last event. A stream's events are handed on as they are read, the
 * next bytes are taken when they were heard; a whole answer is handed on at once, or not at all. Which of them it is the
 * answer says.
 */
import type { ChatRequest } from "@sluice/domain/models/ChatRequest"
import type { ChatEvent, Hear } from "@sluice/domain/models/ModelProvider"
import { flatMapSync } from "@sluice/domain/runtime/SyncFastPath"
import { Effect } from "effect"
import { CallFailed, callFailed } from "../upstream/CallFailed.ts"
import { upstreamChatBody } from "./UpstreamChatBody.ts"
import { ChatReader } from "./ChatReader.ts"
import type { Exchange } from "../upstream/Exchange.ts"
import { parsed } from "../upstream/Loose.ts"
import { checked } from "../upstream/Reply.ts"
import { SseReader } from "../upstream/SseReader.ts"
import type { Call, Lease } from "../upstream/Upstreams.ts"

/** Bytes of an answer, a stream's comments and reasoning included. */
const MAX_BYTES = 256 * 1024 * 1024
const MAX_WHOLE_BYTES = 32 * 1024 * 1024

/** `seed`: what ids of calls are made from where the upstream gives none. */
export const chatCall =
  <E>(request: ChatRequest, seed: string, hear: Hear<E>): Call<void, E> =>
  (lease) =>
    Effect.suspend(() => {
      // vLLM answers 500 to a schema that it can't compile, llama.cpp where a call of a tool does not parse.
      lease.crashes = request.responseFormat.type !== "text" || request.tools.length > 0
      const exchange = lease.send({
        method: "POST",
        path: "/chat/completions",
        accept: request.stream ? "text/event-stream, application/json" : "application/json",
        body: upstreamChatBody(request, lease.upstream),
        mostBytes: request.stream ? MAX_BYTES : MAX_WHOLE_BYTES
      })
      const reader = new ChatReader(request, seed)
      const answered = Effect.flatMap(checked(exchange, lease), (): Effect.Effect<void, CallFailed | E> => {
        const streamed = /^text\/event-stream\b/i.test(exchange.header("content-type") ?? "")
        return streamed ? stream(exchange, lease, reader, hear) : whole(exchange, lease, reader, hear)
      })
      return Effect.tapError(answered, (error) =>
        error instanceof CallFailed && lease.heard && !lease.handedOn ? hear(ANEW) : Effect.void
      )
    })

/** Nobody pays for the thoughts of who failed, whether or not another upstream answers. */
const ANEW: ReadonlyArray<ChatEvent> = [{ _tag: "Anew" }]

const whole = <E>(exchange: Exchange, lease: Lease, reader: ChatReader, hear: Hear<E>) =>
  Effect.flatMap(exchange.whole, (bytes): Effect.Effect<void, CallFailed | E> => {
    const events: Array<ChatEvent> = []
    reader.read(parsed(bytes.toString("utf8")), events)
    reader.finish(true, events)
    // Nobody has heard anything of it yet: another upstream may still answer.
    return reader.flaw === undefined ? heard(lease, reader, events, hear) : Effect.fail(reader.flaw)
  })

const stream = <E>(exchange: Exchange, lease: Lease, reader: ChatReader, hear: Hear<E>) => {
  let events: Array<ChatEvent> = []
  let ended = false
  let ending = false
  const sse = new SseReader((data, event) => {
    if (ended) return
    if (data.trim() === "[DONE]") {
      ended = true
      reader.finish(true, events)
      return
    }
    const chunk = parsed(data)
    // What a cut left of the last event is nothing; whether the answer was complete without it the reader knows.
    if (chunk === undefined && ending) return
    reader.read(chunk, events)
    if (event === "error") reader.fail(callFailed("malformed"))
  })
  return exchange.each((bytes): Effect.Effect<boolean, CallFailed | E> => {
    ending = bytes === undefined
    const sound = bytes === undefined ? sse.end() : sse.feed(bytes)
    if (!sound) reader.fail(callFailed("malformed"))
    if (ending && !ended) {
      ended = true
      reader.finish(false, events)
    }
    const some = events
    events = []
    const more = !ended
    return flatMapSync(heard(lease, reader, some, hear), () => Effect.succeed(more))
  })
}

/** Hands on what is sound, and then fails where something was not. */
const heard = <E>(lease: Lease, reader: ChatReader, events: ReadonlyArray<ChatEvent>, hear: Hear<E>) => {
  const { flaw } = reader
  const end = flaw === undefined ? Effect.void : Effect.fail(flaw)
  if (events.length === 0) return end
  lease.heard = true
  if (events.some(isTold)) lease.handOn()
  return flaw === undefined ? hear(events) : Effect.andThen(hear(events), end)
}

/** The others are for the bill alone: another upstream may still answer instead. */
const isTold = ({ _tag }: ChatEvent): boolean => _tag !== "Thought" && _tag !== "Running"
