/** Chats through the stock OpenAI client against a real server: answers, streams, and their costs. */
import { expect, layer } from "@effect/vitest"
import { ModelListWire } from "@sluice/api/models/ModelWire"
import { instant } from "@sluice/simulator/models/ModelWorld"
import { Effect, Layer, Schema } from "effect"
import type OpenAI from "openai"
import { ownPglite } from "@sluice/testing/engines/Databases"
import { money } from "@sluice/testing/fixtures/Workspace"
import { chatServer, simulateModels } from "../support/ChatServer.ts"
import { customer, failure, keys, NANO, user } from "../support/Customer.ts"

const Running = chatServer(keys, simulateModels(instant(7))).pipe(Layer.provideMerge(ownPglite))

layer(Running, { excludeTestServices: true, timeout: "5 minutes" })("chat through the stock client", (it) => {
  it.effect("answers, and charges the tokens of its usage", () =>
    Effect.gen(function* () {
      const { client, principal } = yield* customer(10n * NANO)
      const { data: answer, response } = yield* Effect.promise(() =>
        client.chat.completions.create({ model: "sluice-large", messages: user("How do ducks fly?") }).withResponse()
      )
      expect(answer.object).toBe("chat.completion")
      expect(answer.choices[0]?.message.role).toBe("assistant")
      expect(answer.choices[0]?.message.content).toContain("ducks")
      expect(answer.choices[0]?.finish_reason).toBe("stop")
      const usage = answer.usage as OpenAI.CompletionUsage & { readonly cost: number }
      expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens)
      const cost = BigInt(usage.prompt_tokens) * 2_500n + BigInt(usage.completion_tokens) * 10_000n
      expect(usage.cost).toBe(Number(cost) / 1e9)
      expect(yield* money(principal)).toEqual({
        balance: 10n * NANO - cost,
        held: 0n,
        spent: cost,
        usage: 1n,
        entries: 0n,
        openHolds: 0n
      })
      expect(response.headers.get("x-request-id")).toBeTruthy()
      expect(response.headers.get("x-ratelimit-limit")).toBe("600")
      expect(response.headers.get("x-ratelimit-remaining")).toBe("599")
    })
  )

  it.effect("streams the same text at the same cost", () =>
    Effect.gen(function* () {
      const { client, principal } = yield* customer(10n * NANO)
      const body = { model: "sluice-small", messages: user("What is a sluice?"), n: 2 }
      const whole = yield* Effect.promise(() => client.chat.completions.create(body))
      const { balance } = yield* money(principal)
      const parts = yield* Effect.promise(async () => {
        const stream = await client.chat.completions.create({
          ...body,
          stream: true,
          stream_options: { include_usage: true }
        })
        const chunks: Array<OpenAI.ChatCompletionChunk> = []
        for await (const chunk of stream) chunks.push(chunk)
        return chunks
      })
      for (const index of [0, 1]) {
        const own = parts.flatMap((chunk) => chunk.choices.filter((choice) => choice.index === index))
        expect(own[0]?.delta.role).toBe("assistant")
        expect(own.map((choice) => choice.delta.content ?? "").join("")).toBe(whole.choices[index]?.message.content)
        expect(own.at(-1)).toMatchObject({ delta: {}, finish_reason: "stop" })
        expect(own.slice(0, -1).every((choice) => choice.finish_reason === null)).toBe(true)
      }
      expect(parts.at(-1)?.choices).toEqual([])
      expect(parts.at(-1)?.usage).toEqual(whole.usage)
      expect(parts.slice(0, -1).every((chunk) => chunk.usage === undefined)).toBe(true)
      expect((yield* money(principal)).balance).toBe(2n * balance - 10n * NANO)
    })
  )

  it.effect("works with the stream helper, stop, max_tokens and json_schema", () =>
    Effect.gen(function* () {
      const { client } = yield* customer(10n * NANO)
      const model = "sluice-small"
      const helped = yield* Effect.promise(() =>
        client.chat.completions
          .stream({ model, messages: user("say one two three four"), stop: ["three"] })
          .finalChatCompletion()
      )
      expect(helped.choices[0]).toMatchObject({ message: { content: "one two " }, finish_reason: "stop" })
      const short = yield* Effect.promise(() =>
        client.chat.completions.create({ model, messages: user("Tell me a lot."), max_tokens: 5 })
      )
      expect(short.choices[0]?.finish_reason).toBe("length")
      expect(short.usage?.completion_tokens).toBe(5)
      const schema = {
        type: "object",
        required: ["city", "people"],
        additionalProperties: false,
        properties: { city: { type: "string" }, people: { type: "integer", minimum: 1, maximum: 9 } }
      }
      const shaped = yield* Effect.promise(() =>
        client.chat.completions.create({
          model,
          messages: user("A city"),
          response_format: { type: "json_schema", json_schema: { name: "city", strict: true, schema } }
        })
      )
      const value = JSON.parse(shaped.choices[0]?.message.content ?? "") as { city: unknown; people: number }
      expect(Object.keys(value).sort()).toEqual(["city", "people"])
      expect(typeof value.city).toBe("string")
      expect(value.people).toBeGreaterThanOrEqual(1)
      expect(value.people).toBeLessThanOrEqual(9)
    })
  )

  it.effect("accepts the requests that agents send", () =>
    Effect.gen(function* () {
      const { client } = yield* customer(10n * NANO)
      const answer = yield* Effect.promise(() =>
        client.chat.completions.create({
          model: "sluice-vision",
          messages: [
            { role: "developer", content: "Be brief." },
            {
              role: "user",
              content: [
                { type: "text", text: "Look" },
                { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } }
              ]
            },
            {
              role: "assistant",
              content: null,
              tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }]
            },
            { role: "tool", tool_call_id: "c1", content: "42" }
          ],
          tools: [{ type: "function", function: { name: "f", parameters: { type: "object" } } }],
          tool_choice: "auto",
          parallel_tool_calls: true,
          max_completion_tokens: 32_000,
          seed: 5,
          user: "u",
          store: false,
          metadata: { a: "b" },
          logprobs: true,
          top_logprobs: 1,
          temperature: null,
          stop: null
        })
      )
      expect(answer.choices[0]?.message.content).toContain("one image")
    })
  )

  it.effect("lists and shows models", () =>
    Effect.gen(function* () {
      const { client, apiKey, url } = yield* customer(0n)
      const models = yield* Effect.promise(async () => (await client.models.list()).data)
      expect(models.map((model) => model.id)).toContain("sluice-vision")
      const answer = yield* Effect.promise(() =>
        fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${apiKey}` } }).then((got) => got.json())
      )
      const lengths = Schema.decodeUnknownSync(ModelListWire)(answer).data.map((model) => [
        model.modalities.output.join(),
        typeof model.context_length
      ])
      // A model without text or vectors has no context length: null, an object in JavaScript.
      expect(new Set(lengths.map((pair) => pair.join(" ")))).toEqual(
        new Set(["text number", "embedding number", "text object", "image object", "audio object", "video object"])
      )
      const one = yield* Effect.promise(() => client.models.retrieve("sluice-small"))
      expect(one).toMatchObject({ object: "model", context_length: 32_768, pricing: { prompt: 0.15, completion: 0.6 } })
      expect(yield* failure(() => client.models.retrieve("nope"))).toMatchObject({
        status: 404,
        code: "model_not_found"
      })
      // An id with a slash, which some clients do not encode, is one id.
      const vendor = yield* Effect.promise(() =>
        fetch(`${url}/v1/models/accounts/sluice/small?x=1`, { headers: { authorization: `Bearer ${apiKey}` } })
      )
      expect(yield* Effect.promise(() => vendor.text())).toContain(
        "There is no model 'accounts/sluice/small' for this endpoint"
      )
      const slash = yield* Effect.promise(() =>
        fetch(`${url}/v1/models/`, { headers: { authorization: `Bearer ${apiKey}` } })
      )
      expect(slash.status).toBe(200)
    })
  )
})
