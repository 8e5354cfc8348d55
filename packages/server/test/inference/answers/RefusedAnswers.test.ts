/** A model that refuses, through the stock client: the client's helpers report a refusal instead of parsing it as the answer. */
import { expect, layer } from "@effect/vitest"
import { type ChatEvent, ModelProvider } from "@sluice/domain/models/ModelProvider"
import { Effect, Layer, Stream } from "effect"
import { ownPglite } from "@sluice/testing/engines/Databases"
import { saying } from "@sluice/testing/fixtures/Answers"
import { modelAt } from "@sluice/testing/fixtures/Models"
import { money } from "@sluice/testing/fixtures/Workspace"
import { chatServer } from "../support/ChatServer.ts"
import { customer, keys, NANO, user } from "../support/Customer.ts"

const refusal = (text: string): ChatEvent => ({ _tag: "Refusal", index: 0, text })
const refuses = saying(
  Stream.make(refusal("I can't "), refusal("help with that."), { _tag: "Finish", index: 0, reason: "stop" })
)
const world = Layer.succeed(ModelProvider, { models: [modelAt(1_000_000n, 3_000_000n)], chat: refuses })
const Running = chatServer(keys, world).pipe(Layer.provideMerge(ownPglite))

const SAID = "I can't help with that."
const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"], additionalProperties: false }
const QUESTION = {
  model: "m",
  messages: user("Count."),
  response_format: { type: "json_schema" as const, json_schema: { name: "count", schema } }
}

layer(Running, { excludeTestServices: true, timeout: "5 minutes" })("a refusal through the stock client", (it) => {
  it.effect("is the refusal of a chat, streamed and buffered, and billed as other text", () =>
    Effect.gen(function* () {
      const { client, principal } = yield* customer(NANO)
      const whole = yield* Effect.promise(() => client.chat.completions.parse(QUESTION))
      expect(whole.choices[0]!.message).toMatchObject({ content: null, refusal: SAID, parsed: null })
      expect(whole.usage!.completion_tokens).toBeGreaterThan(3)
      const { balance } = yield* money(principal)
      const heard: Array<string> = []
      const streamed = yield* Effect.promise(() =>
        client.chat.completions
          .stream({ ...QUESTION, stream_options: { include_usage: true } })
          .on("refusal.delta", ({ delta }) => void heard.push(delta))
          .finalChatCompletion()
      )
      expect(heard.join("")).toBe(SAID)
      expect(streamed.choices[0]!.message).toMatchObject({ role: "assistant", content: null, refusal: SAID })
      expect(streamed.usage).toEqual(whole.usage)
      expect(balance - (yield* money(principal)).balance).toBe(NANO - balance)

      const { refusal } = whole.choices[0]!.message
      const again = [...user("Count."), { role: "assistant" as const, content: null, refusal }, ...user("Please.")]
      expect(
        (yield* Effect.promise(() => client.chat.completions.create({ model: "m", messages: again }))).object
      ).toBe("chat.completion")
    })
  )

  it.effect("is the refusal of a response, streamed and buffered", () =>
    Effect.gen(function* () {
      const { client } = yield* customer(NANO)
      const asked = {
        model: "m",
        input: "Count.",
        text: { format: { type: "json_schema" as const, name: "count", schema } }
      }
      const whole = yield* Effect.promise(() => client.responses.parse(asked))
      const content = [{ type: "refusal", refusal: SAID }]
      expect(whole.output).toMatchObject([{ type: "message", status: "completed", content }])
      expect([whole.output_parsed, whole.output_text]).toEqual([null, ""])
      const heard: Array<string> = []
      const streamed = yield* Effect.promise(() =>
        client.responses
          .stream(asked)
          .on("response.refusal.delta", ({ delta }) => void heard.push(delta))
          .finalResponse()
      )
      expect(heard.join("")).toBe(SAID)
      expect(streamed.output).toMatchObject([{ type: "message", status: "completed", content }])
      expect(streamed.usage).toEqual(whole.usage)
      const input = [
        { role: "user" as const, content: "Count." },
        ...whole.output,
        { role: "user" as const, content: "?" }
      ]
      expect((yield* Effect.promise(() => client.responses.create({ model: "m", input: input as never }))).status).toBe(
        "completed"
      )
    })
  )
})
