/** Refusals of POST /responses, by the error classes of the stock client; and any conversation, streamed and buffered. */
import { expect, layer } from "@effect/vitest"
import { instant } from "@sluice/simulator/models/ModelWorld"
import { Effect, Layer } from "effect"
import fc from "fast-check"
import OpenAI, { AuthenticationError, BadRequestError, NotFoundError, PermissionDeniedError } from "openai"
import { ownPglite } from "@sluice/testing/engines/Databases"
import { functionNames, turns } from "@sluice/testing/fixtures/Conversations"
import { money, moneyAtRest, setBudget } from "@sluice/testing/fixtures/Workspace"
import { chatServer, simulateModels } from "../support/ChatServer.ts"
import { customer, failure, functionTool, keys, NANO } from "../support/Customer.ts"

const Running = chatServer(keys, simulateModels(instant(7))).pipe(Layer.provideMerge(ownPglite))

const model = "sluice-small"
const image = { type: "input_image", image_url: "data:image/png;base64,iVBORw0KGgo=" }

layer(Running, { excludeTestServices: true, timeout: "5 minutes" })("refusals of responses", (it) => {
  it.effect("name the caller's own paths, streamed and buffered, and cost nothing", () =>
    Effect.gen(function* () {
      const { client, principal } = yield* customer(NANO)
      const odd = { ...functionTool("odd"), parameters: { properties: { a: { not: {} } }, required: ["a"] } }
      for (const [body, param] of [
        [{ input: [{ role: "boss", content: "x" }] }, "input.0.role"],
        [
          {
            input: [
              { role: "user", content: "x" },
              { role: "user", content: [image] }
            ]
          },
          "input.1.content"
        ],
        [
          { input: [{ role: "user", content: [{ ...image, image_url: "data:image/png;base64,AA==" }] }] },
          "input.0.content.0.image_url"
        ],
        [{ instructions: "Be brief.", input: [{ role: "user", content: [image] }] }, "input.0.content"],
        [{ input: "word ".repeat(40_000) }, "input"],
        [{ temperature: "0.7" }, "temperature"],
        [{ tools: [{ type: "web_search" }, odd], tool_choice: "required" }, "tools.1.parameters"],
        [{ text: { format: { type: "json_schema", name: "x", schema: { not: {} } } } }, "text.format.schema"],
        [{ tool_choice: "required" }, "tool_choice"],
        [{ previous_response_id: "resp_1" }, "previous_response_id"],
        [{ conversation: "conv_1" }, "conversation"],
        [{ background: true }, "background"]
      ] as const) {
        for (const stream of [false, true]) {
          const error = yield* failure(() => client.responses.create({ model, input: "hi", ...body, stream } as never))
          expect(error).toBeInstanceOf(BadRequestError)
          expect(error).toMatchObject({ status: 400, type: "invalid_request_error", param })
          expect(error.requestID).toBeTruthy()
        }
      }
      expect(yield* money(principal)).toMatchObject({ balance: NANO, held: 0n, usage: 0n })
    })
  )

  it.effect("have the classes of the stock client", () =>
    Effect.gen(function* () {
      const { client, principal, url } = yield* customer(1_000n)
      const stranger = new OpenAI({ apiKey: "svc_live_nobody", baseURL: `${url}/v1`, maxRetries: 0 })
      const ask = (by: OpenAI, body = {}) => failure(() => by.responses.create({ model, input: "hi", ...body }))
      const unknown = yield* ask(stranger)
      expect(unknown).toBeInstanceOf(AuthenticationError)
      expect(unknown).toMatchObject({ status: 401, code: "invalid_api_key" })
      const missing = yield* ask(client, { model: "nope" })
      expect(missing).toBeInstanceOf(NotFoundError)
      expect(missing).toMatchObject({ status: 404, code: "model_not_found", param: "model" })
      expect(yield* ask(client)).toMatchObject({
        status: 402,
        type: "insufficient_quota",
        code: "insufficient_credits"
      })
      yield* setBudget(principal, 0n)
      expect(yield* ask(client)).toMatchObject({ status: 402, code: "BUDGET_REACHED" })
      const reader = yield* customer(NANO, { scopes: ["inference:read"] })
      expect(yield* ask(reader.client)).toBeInstanceOf(PermissionDeniedError)
      expect(yield* failure(() => client.responses.retrieve("resp_1"))).toBeInstanceOf(NotFoundError)
    })
  )

  it.effect("never occur for a valid conversation, which streams the same output that it gives buffered", () =>
    Effect.gen(function* () {
      const { client, principal } = yield* customer(100n * NANO)
      let calls = 0
      const property = fc.asyncProperty(
        turns,
        functionNames,
        fc.integer({ min: 1, max: 60 }),
        async (conversation, names, most) => {
          const question = { role: "user", content: `What of ${names.slice(1).join(" ")}?` }
          const body = {
            model,
            input: [...conversation.flatMap(({ items }) => items), question] as never,
            tools: names.map(functionTool),
            max_output_tokens: most
          }
          const whole = await client.responses.create(body)
          const streamed = await client.responses.stream(body).finalResponse()
          const plain = ({ output, status, usage }: typeof whole) => ({
            status,
            usage,
            output: output.map((item) => {
              if (item.type === "function_call") return [item.call_id, item.name, item.arguments, item.status]
              return item.type === "message" && item.content[0]?.type === "output_text"
                ? [item.content[0].text, item.status]
                : []
            })
          })
          expect(plain(streamed as typeof whole)).toEqual(plain(whole))
          calls += whole.output.filter(({ type }) => type === "function_call").length
        }
      )
      yield* Effect.promise(() => fc.assert(property, { numRuns: 60 }))
      expect(calls).toBeGreaterThan(0)
      expect(yield* moneyAtRest(principal)).toMatchObject({ held: 0n, entries: 0n, openHolds: 0n })
    })
  )
})
