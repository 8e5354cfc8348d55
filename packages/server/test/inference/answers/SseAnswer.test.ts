/** Silence, slow readers and the end of a stream, in virtual time over a scripted socket. */
import { expect, it } from "@effect/vitest"
import type { Answer } from "@sluice/domain/inference/chat/Inference"
import { ClientStalled } from "@sluice/domain/models/InferenceErrors"
import { Unexpected } from "@sluice/api/inference/EdgeFailures"
import { ChatEvents } from "@sluice/server/inference/chat/ChatEvents"
import { SILENCE_MS, SseAnswer, STALL_MS } from "@sluice/server/inference/answers/SseAnswer"
import { Clock, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { EventEmitter } from "node:events"
import type { ServerResponse } from "node:http"

/** A response that records its writes and is full on command. */
class Socket extends EventEmitter {
  written = ""
  full = false
  headersSent = false
  writableEnded = false
  destroyed = false
  get writableNeedDrain() {
    return this.full
  }
  get writableLength() {
    return this.full ? 1 : 0
  }
  writeHead() {
    this.headersSent = true
  }
  write(text: string) {
    this.written += text
    return !this.full
  }
  end() {
    this.writableEnded = true
  }
  destroy() {
    this.destroyed = true
  }
}

const head = { id: "c", created: 1, model: "m" }
const open = Effect.map(Effect.service(Clock.Clock), (clock) => {
  const socket = new Socket()
  return { socket, answer: new SseAnswer(socket as unknown as ServerResponse, new ChatEvents(false), {}, clock) }
})
const word = [{ _tag: "Text", index: 0, text: "word" }] as const

it.effect("a stream sends a comment after 15 s of silence, counted from its last chunk", () =>
  Effect.gen(function* () {
    const { socket, answer } = yield* open
    const beat = yield* Effect.forkChild(Effect.sync(answer.beat).pipe(Effect.andThen(Effect.sleep(1)), Effect.forever))
    yield* TestClock.adjust(SILENCE_MS - 1)
    expect(socket.headersSent).toBe(false)
    yield* answer.emit(head, word)
    yield* TestClock.adjust(SILENCE_MS - 1)
    expect(socket.written).not.toContain(": waiting")
    yield* TestClock.adjust(1)
    expect(socket.written.split(": waiting\n\n")).toHaveLength(2)
    yield* TestClock.adjust(3 * SILENCE_MS)
    expect(socket.written.split(": waiting\n\n")).toHaveLength(5)
    yield* Fiber.interrupt(beat)
  })
)

it.effect("a stream waits for a slow reader, and gives up after 30 s without progress", () =>
  Effect.gen(function* () {
    const { socket, answer } = yield* open
    socket.full = true
    const first = yield* Effect.forkChild(answer.emit(head, word))
    yield* TestClock.adjust(STALL_MS - 1)
    expect(first.pollUnsafe()).toBeUndefined()
    socket.emit("drain")
    yield* Fiber.join(first)
    const second = yield* Effect.forkChild(Effect.exit(answer.emit(head, word)))
    yield* TestClock.adjust(STALL_MS)
    const exit = yield* Fiber.join(second)
    expect(Exit.isFailure(exit) && String(exit.cause)).toContain("ClientStalled")
    expect(socket.listenerCount("drain")).toBe(0)
  })
)

it.effect("a stream sends no comment to a stalled reader or after its end", () =>
  Effect.gen(function* () {
    const { socket, answer } = yield* open
    yield* answer.emit(head, word)
    const { written } = socket
    socket.full = true
    yield* TestClock.adjust(SILENCE_MS)
    answer.beat()
    socket.full = false
    socket.end()
    answer.beat()
    expect(socket.written).toBe(written)
  })
)

it.effect("a stream ends with its failure, once; a stalled reader is disconnected without one", () =>
  Effect.gen(function* () {
    for (const [end, destroyed] of [
      [(answer: SseAnswer) => answer.fail(new Unexpected(), "r"), false],
      [(answer: SseAnswer) => answer.fail(new ClientStalled(), "r"), true],
      [(answer: SseAnswer) => answer.stop("r"), false]
    ] as const) {
      const { socket, answer } = yield* open
      // Before the first chunk a stop is a plain answer, which another module writes.
      answer.stop("r")
      expect([socket.written, socket.writableEnded]).toEqual(["", false])
      yield* answer.emit(head, word)
      end(answer)
      answer.stop("r")
      expect(socket.written.match(/"error"|\[DONE\]/g)).toEqual(['"error"'])
      expect([socket.destroyed, socket.destroyed || socket.writableEnded]).toEqual([destroyed, true])
    }
  })
)

it.effect("a stream disconnects a reader that does not take the end", () =>
  Effect.gen(function* () {
    const { socket, answer } = yield* open
    const whole: Answer = {
      head,
      choices: [{ text: "", calls: [], reason: "stop" }],
      usage: { promptTokens: 1, completionTokens: 0, cost: 0n }
    }
    socket.full = true
    answer.complete(whole)
    expect(socket.written.endsWith("data: [DONE]\n\n") && socket.writableEnded).toBe(true)
    const sent = yield* Effect.forkChild(answer.awaitSent())
    yield* TestClock.adjust(STALL_MS)
    yield* Fiber.join(sent)
    expect(socket.destroyed).toBe(true)
  })
)
