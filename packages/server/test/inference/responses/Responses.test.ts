/** Responses through the stock client: buffered, streamed, parsed, cut short, at the cost of a chat. */
import { expect, layer } from "@effect/vitest"
import { instant } from "@sluice/simulator/models/ModelWorld"
import { Effect, Layer } from "effect"
import { zodTextFormat } from "openai/helpers/zod"
import type { ResponseStreamEvent } from "openai/resources/responses/responses"
import { z } from "zod"
import { ownPglite } from "@sluice/testing/engines/Databases"
import { money } from "@sluice/testing/fixtures/Workspace"
import { chatServer, simulateModels } from "../support/ChatServer.ts"
import { customer, functionTool, keys, NANO, user } from "../support/Customer.ts"

const Running = chatServer(keys, simulateModels(instant(7))).pipe(Layer.provideMerge(ownPglite))

const model = "sluice-small"
/** Fields that no version of the API has. */
const unknown = { client_metadata: { a: "b" } }
const nanoUsd = (usage: object | null | undefined) => BigInt(Math.round((usage as { cost: number }).cost * 1e9))

layer(Running, { excludeTestServices: true, timeout: "5 minutes" })("responses through the stock client", (it) => {
  it.effect("answer with the text of a chat, at the same cost", () =>
    Effect.gen(function* () {
      const { client, principal } = yield* customer(10n * NANO)
      const chat = yield* Effect.promise(() =>
        client.chat.completions.create({
          model,
          messages: [{ role: "system", content: "Be brief." }, ...user("Rivers?")]
        })
      )
      const before = yield* money(principal)
      const response = yield* Effect.promise(() =>
        client.responses.create({ model, instructions: "Be brief.", input: "Rivers?", metadata: { a: "b" } })
      )
      expect(response.output_text).toBe(chat.choices[0]!.message.content)
      expect(response).toMatchObject({
        object: "response",
        status: "completed",
        error: null,
        incomplete_details: null,
        model,
        instructions: "Be brief.",
        metadata: { a: "b" },
        parallel_tool_calls: true,
        temperature: 0.7,
        top_p: 1,
        tool_choice: "auto",
        tools: [],
        store: false,
        text: { format: { type: "text" } },
        usage: {
          input_tokens: chat.usage!.prompt_tokens,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens: chat.usage!.completion_tokens,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: chat.usage!.total_tokens
        }
      })
      expect(response.id).toMatch(/^resp_[0-9a-f]{32}$/)
      expect(response.output).toEqual([
        {
          id: expect.stringMatching(/^msg_[0-9a-f]{35}$/),
          type: "message",
          status: "completed",
          role: "assistant",
          content: [{ type: "output_text", text: response.output_text, annotations: [], logprobs: [] }]
        }
      ])
      const after = yield* money(principal)
      expect(after.spent - before.spent).toBe(nanoUsd(response.usage))
      expect(nanoUsd(response.usage)).toBe(nanoUsd(chat.usage))
    })
  )

  it.effect(
    "stream typed events that add up to the buffered response, and are charged durably before the last event",
    () =>
      Effect.gen(function* () {
        const { client, principal } = yield* customer(10n * NANO)
        const asked = { model, input: "Tell me about rivers." }
        const whole = yield* Effect.promise(() => client.responses.create(asked))
        const events: Array<ResponseStreamEvent> = []
        const stream = yield* Effect.promise(() => client.responses.create({ ...asked, stream: true }))
        const iterator = stream[Symbol.asyncIterator]()
        for (;;) {
          const next = yield* Effect.promise(() => iterator.next())
          if (next.done === true) break
          events.push(next.value)
          if (next.value.type === "response.completed")
            expect(yield* money(principal)).toMatchObject({ usage: 2n, held: 0n })
        }
        expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index))
        const types = events.map(({ type }) => type)
        expect(types.filter((type, index) => type !== types[index - 1])).toEqual([
          "response.created",
          "response.in_progress",
          "response.output_item.added",
          "response.content_part.added",
          "response.output_text.delta",
          "response.output_text.done",
          "response.content_part.done",
          "response.output_item.done",
          "response.completed"
        ])
        const deltas = events.flatMap((event) => (event.type === "response.output_text.delta" ? [event.delta] : []))
        expect(deltas.length).toBeGreaterThan(3)
        expect(deltas.join("")).toBe(whole.output_text)
        const helper = client.responses.stream(asked)
        const seen: Array<string> = []
        helper.on("response.output_text.delta", ({ delta }) => void seen.push(delta))
        const final = yield* Effect.promise(() => helper.finalResponse())
        expect(seen).toEqual(deltas)
        expect([final.output_text, final.usage, final.status]).toEqual([whole.output_text, whole.usage, "completed"])
      })
  )

  it.effect("match a zod schema, streamed too", () =>
    Effect.gen(function* () {
      const { client } = yield* customer(10n * NANO)
      const City = z.object({ city: z.string(), people: z.number().int().min(1).max(9) })
      const asked = { model, input: "A city", text: { format: zodTextFormat(City, "city") } }
      const parsed = yield* Effect.promise(() => client.responses.parse(asked))
      expect(City.parse(parsed.output_parsed)).toEqual(parsed.output_parsed)
      const streamed = yield* Effect.promise(() => client.responses.stream(asked).finalResponse())
      expect(streamed.output_parsed).toEqual(parsed.output_parsed)
      const loose = yield* Effect.promise(() =>
        client.responses.create({ model, input: "A city as JSON", text: { format: { type: "json_object" } } })
      )
      expect(typeof JSON.parse(loose.output_text)).toBe("object")
    })
  )

  it.effect("are incomplete where max_output_tokens cut them, streamed too", () =>
    Effect.gen(function* () {
      const { client } = yield* customer(10n * NANO)
      const asked = { model, input: "Tell me a lot.", max_output_tokens: 5 }
      const short = yield* Effect.promise(() => client.responses.create(asked))
      expect(short).toMatchObject({
        status: "incomplete",
        incomplete_details: { reason: "max_output_tokens" },
        max_output_tokens: 5,
        output: [{ status: "incomplete" }],
        usage: { output_tokens: 5 }
      })
      const streamed = yield* Effect.promise(() => client.responses.stream(asked).finalResponse())
      expect([streamed.status, streamed.output_text, streamed.usage]).toEqual([
        "incomplete",
        short.output_text,
        short.usage
      ])
      const cut = yield* Effect.promise(() =>
        client.responses.create({
          model,
          input: "The weather?",
          tools: [functionTool("get_weather")],
          max_output_tokens: 4
        })
      )
      expect(cut).toMatchObject({ status: "incomplete", output: [{ type: "function_call", status: "incomplete" }] })
    })
  )

  it.effect("accept the requests that agents send", () =>
    Effect.gen(function* () {
      const { client } = yield* customer(10n * NANO)
      const response = yield* Effect.promise(() =>
        client.responses.create({
          model: "sluice-vision",
          instructions: null,
          input: [
            { role: "developer", content: "Be brief." },
            {
              role: "user",
              content: [
                { type: "input_text", text: "Look" },
                { type: "input_image", image_url: "data:image/png;base64,iVBORw0KGgo=", detail: "auto" }
              ]
            },
            { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "x" },
            {
              id: "msg_1",
              type: "message",
              role: "assistant",
              status: "completed",
              content: [{ type: "output_text", text: "Calling", annotations: [] }]
            },
            { type: "function_call", id: "fc_1", call_id: "c1", name: "exec", arguments: "{}", status: "completed" },
            { type: "function_call_output", call_id: "c1", output: [{ type: "input_text", text: "42" }] }
          ],
          tools: [{ type: "web_search" }, { type: "custom", name: "apply_patch" }, functionTool("exec")],
          tool_choice: "auto",
          parallel_tool_calls: false,
          reasoning: { effort: "low", summary: "auto" },
          include: ["reasoning.encrypted_content"],
          store: false,
          prompt_cache_key: "k",
          truncation: "auto",
          service_tier: "auto",
          user: "u",
          max_output_tokens: 32_000,
          temperature: null,
          text: { verbosity: "low" },
          ...unknown
        })
      )
      expect(response.output_text).toContain("one image")
      expect(response.output_text).toContain("The tool answered: 42.")
      expect(response.tools.map(({ type }) => type)).toEqual(["function"])
      expect(response).toMatchObject({
        reasoning: { effort: "low", summary: null },
        prompt_cache_key: "k",
        user: "u",
        text: { format: { type: "text" } }
      })
    })
  )
})
