/** Streamed responses that break, hang, are abandoned or arrive in odd pieces: the output of stock clients, and the charge. */
import { createOpenAI } from "@ai-sdk/openai"
import { expect, layer } from "@effect/vitest"
import { type ChatEvent, type Model, ModelProvider } from "@sluice/domain/models/ModelProvider"
import { UpstreamFailed } from "@sluice/domain/models/UpstreamFailed"
import { streamText } from "ai"
import { Effect, Exit, Fiber, Layer, Schedule, Scope, Stream } from "effect"
import { BadRequestError, InternalServerError } from "openai"
import type { ResponseOutputItem } from "openai/resources/responses/responses"
import { saying } from "@sluice/testing/fixtures/Answers"
import { ownPglite } from "@sluice/testing/engines/Databases"
import { money } from "@sluice/testing/fixtures/Workspace"
import { baseUrl, chatServer } from "../support/ChatServer.ts"
import { customer, failure, keys, NANO } from "../support/Customer.ts"

const text = (words: string): ChatEvent => ({ _tag: "Text", index: 0, text: words })
const call = (call: number): ChatEvent => ({ _tag: "ToolCall", index: 0, call, id: `call_${call}`, name: `f${call}` })
const args = (call: number, text: string): ChatEvent => ({ _tag: "ToolArguments", index: 0, call, text })
const finish = (reason: "stop" | "tool_calls"): ChatEvent => ({ _tag: "Finish", index: 0, reason })

const two = [text("one"), text(" two")]
const odd = [text("a"), call(0), args(0, "{"), call(1), text("b"), args(1, "{}"), args(0, "}"), text("c")]
const answers = {
  breaks: Stream.concat(Stream.fromArray(two), Stream.fail(new UpstreamFailed({ reason: "broken" }))),
  refuses: Stream.fail(new UpstreamFailed({ reason: "overloaded" })),
  long: Stream.fail(new UpstreamFailed({ reason: "too_long" })),
  hangs: Stream.concat(Stream.fromArray(two), Stream.never),
  empty: Stream.fromArray([finish("stop")]),
  odd: Stream.fromArray([...odd, finish("tool_calls")]).pipe(Stream.rechunk(1))
}

const model = (id: string): Model => ({
  id,
  created: 0,
  ownedBy: "test",
  contextLength: 10_000,
  maxOutputTokens: 1_000,
  vision: false,
  promptPrice: 1_000_000_000n,
  completionPrice: 1_000_000_000n
})

const provider = Layer.succeed(ModelProvider, {
  models: Object.keys(answers).map(model),
  chat: (model, request, hear) => saying(answers[model.id as keyof typeof answers])(model, request, hear)
})

const Running = chatServer(keys, provider).pipe(Layer.provideMerge(ownPglite))

/** `hi` is 1 token, a message 4, the answer's beginning 3; a token costs 1,000 nano-USD here. */
const PROMPT = 8n * 1_000n

const said = (item: ResponseOutputItem) => {
  if (item.type === "function_call") return `${item.name} ${item.arguments}`
  return item.type === "message" && item.content[0]?.type === "output_text" ? item.content[0].text : item.type
}

layer(Running, { excludeTestServices: true, timeout: "5 minutes" })("streams of responses", (it) => {
  it.effect(
    "a model that breaks ends the stream with its text, error and response.failed, and the text is charged",
    () =>
      Effect.gen(function* () {
        const { apiKey, principal, url } = yield* customer(NANO)
        const response = yield* Effect.promise(() =>
          fetch(`${url}/v1/responses`, {
            method: "POST",
            headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
            body: JSON.stringify({ model: "breaks", input: "hi", stream: true })
          })
        )
        expect([response.status, response.headers.get("content-type")]).toEqual([
          200,
          "text/event-stream; charset=utf-8"
        ])
        const body = yield* Effect.promise(() => response.text())
        const blocks = body.split("\n\n")
        expect(blocks.at(-1)).toBe("")
        expect(blocks.at(-3)!.split("\n")[0]).toBe("event: error")
        const [name, data] = blocks.at(-2)!.split("\n")
        expect(name).toBe("event: response.failed")
        expect(JSON.parse(data!.slice(6))).toMatchObject({
          response: {
            status: "failed",
            error: { code: "upstream_broken", message: expect.stringContaining("Try again") }
          }
        })
        expect(body).not.toContain("[DONE]")
        expect(body).not.toContain("response.completed")
        expect(yield* money(principal)).toMatchObject({ spent: PROMPT + 2_000n, held: 0n, usage: 1n })
      })
  )

  it.effect("stock clients see a broken stream as a thrown error or an error part", () =>
    Effect.gen(function* () {
      const { apiKey, client, url } = yield* customer(NANO)
      const asked = { model: "breaks", input: "hi" }
      const raised = yield* failure(() => client.responses.stream(asked).finalResponse())
      expect(raised).toMatchObject({ type: "upstream_error", code: "upstream_broken" })
      const errors = yield* Effect.promise(async () => {
        const found: Array<unknown> = []
        const openai = createOpenAI({ apiKey, baseURL: `${url}/v1` })
        const stream = streamText({ model: openai("breaks"), prompt: "hi", maxRetries: 0, onError: () => {} })
        for await (const part of stream.fullStream) if (part.type === "error") found.push(part.error)
        return found
      })
      expect(errors).toHaveLength(1)
      expect(String((errors[0] as Error).message)).toContain("its answer was incomplete")
    })
  )

  it.effect("a failure before the first token, or of a buffered answer, is a plain error and free", () =>
    Effect.gen(function* () {
      const { client, principal } = yield* customer(NANO)
      for (const [model, stream, status] of [
        ["refuses", true, 503],
        ["refuses", false, 503],
        ["breaks", false, 502]
      ] as const) {
        const error = yield* failure(() => client.responses.create({ model, input: "hi", stream }))
        expect(error).toBeInstanceOf(InternalServerError)
        expect([error.status, error.requestID === null]).toEqual([status, false])
      }
      expect(yield* money(principal)).toMatchObject({ spent: 0n, held: 0n, usage: 0n, openHolds: 0n })
    })
  )

  it.effect("a conversation that the model's server finds too long gets the error of the server's own check", () =>
    Effect.gen(function* () {
      const { client } = yield* customer(NANO)
      for (const stream of [true, false]) {
        const error = yield* failure(() => client.responses.create({ model: "long", input: "hi", stream }))
        expect(error).toBeInstanceOf(BadRequestError)
        expect([error.status, error.code, error.type, error.param]).toEqual([
          400,
          "context_length_exceeded",
          "invalid_request_error",
          "input"
        ])
      }
    })
  )

  it.effect("text and calls in any order are the same output, streamed and buffered", () =>
    Effect.gen(function* () {
      const { client } = yield* customer(NANO)
      const asked = { model: "odd", input: "hi" }
      const whole = yield* Effect.promise(() => client.responses.create(asked))
      const streamed = yield* Effect.promise(() => client.responses.stream(asked).finalResponse())
      for (const { output, usage } of [whole, streamed]) {
        expect(output.map(said)).toEqual(["a", "f0 {}", "f1 {}", "bc"])
        expect(usage).toEqual(whole.usage)
      }
    })
  )

  it.effect("an answer without text is one empty message", () =>
    Effect.gen(function* () {
      const { client } = yield* customer(NANO)
      const asked = { model: "empty", input: "hi" }
      const whole = yield* Effect.promise(() => client.responses.create(asked))
      const streamed = yield* Effect.promise(() => client.responses.stream(asked).finalResponse())
      for (const { output, output_text, status } of [whole, streamed]) {
        expect([status, output_text, output.length, output[0]!.type]).toEqual(["completed", "", 1, "message"])
      }
    })
  )

  it.effect("a caller that disconnects pays for the output so far", () =>
    Effect.gen(function* () {
      const { client, principal } = yield* customer(NANO)
      yield* Effect.promise(async () => {
        const stream = await client.responses.create({ model: "hangs", input: "hi", stream: true })
        for await (const event of stream) {
          if (event.type === "response.output_text.delta" && event.delta === " two") stream.controller.abort()
        }
      })
      const row = yield* money(principal).pipe(
        Effect.filterOrFail(({ usage }) => usage === 1n),
        Effect.retry(Schedule.spaced("20 millis").pipe(Schedule.upTo({ times: 10_000 })))
      )
      expect(row).toMatchObject({ spent: PROMPT + 2_000n, held: 0n, openHolds: 0n })
    })
  )

  it.effect("a server that stops says so in the stream, after it has settled", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const stopping = yield* Layer.buildWithScope(Layer.fresh(chatServer(keys, provider)), scope)
      const { client, principal } = yield* customer(NANO)
      const url = yield* Effect.provide(baseUrl, stopping)
      const stream = yield* Effect.promise(() =>
        client.withOptions({ baseURL: `${url}/v1` }).responses.create({ model: "hangs", input: "hi", stream: true })
      )
      const read = yield* Effect.forkChild(
        failure(async () => {
          for await (const _ of stream) continue
        })
      )
      yield* Scope.close(scope, Exit.void)
      expect(yield* Fiber.join(read)).toMatchObject({ type: "overloaded_error", code: "server_stopping" })
      expect(yield* money(principal)).toMatchObject({ spent: PROMPT + 2_000n, held: 0n, usage: 1n, openHolds: 0n })
    })
  )
})
