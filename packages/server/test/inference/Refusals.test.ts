/** Refusals of the inference surface, in the messages and statuses that stock clients understand. */
import { expect, layer } from "@effect/vitest"
import { instant } from "@sluice/simulator/models/ModelWorld"
import { Effect, Layer } from "effect"
import OpenAI, { type APIError } from "openai"
import { ownPglite } from "@sluice/testing/engines/Databases"
import { money, setBudget } from "@sluice/testing/fixtures/Workspace"
import { chatServer, simulateModels } from "./support/ChatServer.ts"
import { customer, failure, keys, NANO, user } from "./support/Customer.ts"

const Running = chatServer(keys, simulateModels(instant(7))).pipe(Layer.provideMerge(ownPglite))

layer(Running, { excludeTestServices: true, timeout: "5 minutes" })("refusals through the stock client", (it) => {
  it.effect("have OpenAI's form", () =>
    Effect.gen(function* () {
      const { client, apiKey, url, principal } = yield* customer(1_000n)
      const stranger = new OpenAI({ apiKey: "svc_live_nobody", baseURL: `${url}/v1`, maxRetries: 0 })
      const ask = (body: object, by = client) =>
        failure(() => by.chat.completions.create({ model: "sluice-small", messages: user("hi"), ...body } as never))
      expect(yield* ask({}, stranger)).toMatchObject({
        status: 401,
        type: "authentication_error",
        code: "invalid_api_key"
      })
      expect(yield* ask({ model: "nope" })).toMatchObject({
        status: 404,
        type: "invalid_request_error",
        code: "model_not_found"
      })
      for (const [body, param] of [
        [{ temperature: "0.7" }, "temperature"],
        [{ top_p: true }, "top_p"],
        [{ max_tokens: 1.5 }, "max_tokens"],
        [{ max_tokens: 0 }, "max_tokens"],
        [{ n: 9 }, "n"],
        [{ presence_penalty: -2.1 }, "presence_penalty"],
        [{ messages: [] }, "messages"],
        [{ messages: [{ role: "boss", content: "x" }] }, "messages.0.role"],
        [
          { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "https://x/y.png" } }] }] },
          "messages.0.content.0.image_url.url"
        ],
        [
          {
            messages: [
              {
                role: "user",
                content: [{ type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } }]
              }
            ]
          },
          "messages.0.content"
        ],
        [{ tool_choice: "required" }, "tool_choice"],
        [{ top_logprobs: 2 }, "top_logprobs"],
        [{ logprobs: true, top_logprobs: 21 }, "top_logprobs"]
      ] as const) {
        expect(yield* ask(body)).toMatchObject({ status: 400, type: "invalid_request_error", param })
      }
      expect(yield* ask({ messages: user("word ".repeat(40_000)) })).toMatchObject({
        status: 400,
        code: "context_length_exceeded",
        param: "messages"
      })
      const poor = yield* ask({})
      expect(poor).toMatchObject({ status: 402, type: "insufficient_quota", code: "insufficient_credits" })
      expect(poor.requestID).toBeTruthy()
      yield* setBudget(principal, 0n)
      expect(yield* ask({})).toMatchObject({ status: 402, code: "BUDGET_REACHED" })
      const headers = { authorization: `Bearer ${apiKey}` }
      const asJson = { ...headers, "content-type": "application/json" }
      const broken = yield* Effect.promise(() =>
        fetch(`${url}/v1/chat/completions`, { method: "POST", headers: asJson, body: "{" })
      )
      expect(broken.status).toBe(400)
      for (const path of ["chat/completions", "embeddings", "images/generations"]) {
        const send = (headers: Record<string, string>) =>
          Effect.promise(() => fetch(`${url}/v1/${path}`, { method: "POST", headers, body: "x".repeat(20_971_521) }))
        const large = yield* send(asJson)
        expect([path, large.status, large.headers.get("x-ratelimit-limit")]).toEqual([path, 413, "600"])
        // A caller without a valid key learns no limits.
        expect((yield* send({ "content-type": "application/json" })).status).toBe(401)
      }
      const elsewhere = yield* Effect.promise(() =>
        fetch(`${url}/v1/models`, { headers: { ...headers, "x-environment": "nope" } })
      )
      expect([elsewhere.status, elsewhere.headers.get("x-ratelimit-limit")]).toEqual([404, "600"])
      expect(yield* money(principal)).toMatchObject({ balance: 1_000n, held: 0n, usage: 0n })
    })
  )

  it.effect("keep the rate limit and report it in headers", () =>
    Effect.gen(function* () {
      const { client } = yield* customer(10n * NANO, { rateLimitRpm: 2 })
      const before = Date.now() / 1000
      yield* Effect.promise(() => client.models.list())
      yield* Effect.promise(() => client.models.list())
      const error = yield* failure(() => client.models.list())
      expect(error).toMatchObject({ status: 429, type: "rate_limit_error", code: "rate_limit_exceeded" })
      expect(error.headers?.get("x-ratelimit-limit")).toBe("2")
      expect(error.headers?.get("x-ratelimit-remaining")).toBe("0")
      expect(Number(error.headers?.get("x-ratelimit-reset"))).toBeGreaterThanOrEqual(Math.floor(before + 60))
      expect(Number(error.headers?.get("retry-after"))).toBeGreaterThanOrEqual(58)
    })
  )

  it.effect("name the missing scope", () =>
    Effect.gen(function* () {
      const { client } = yield* customer(10n * NANO, { scopes: ["inference:read", "jobs:write"] })
      yield* Effect.promise(() => client.models.list())
      const error = yield* failure(() =>
        client.chat.completions.create({ model: "sluice-small", messages: user("hi") })
      )
      expect(error).toMatchObject({ status: 403, type: "permission_error" })
      expect(error.message).toContain("inference:write")
    })
  )

  it.effect("leave a balance for 3 requests above zero under 200 at once, with balanced books", () =>
    Effect.gen(function* () {
      // Prompt 5 + 4 + 3 or so at 0.15 USD, 10 tokens at 0.6: one reservation, measured by a first request.
      const probe = yield* customer(NANO)
      const body = { model: "sluice-small", messages: user("say a b c d e f g h i j k"), max_tokens: 10 }
      const first = yield* Effect.promise(() => probe.client.chat.completions.create(body))
      const each = BigInt(Math.round((first.usage as unknown as { cost: number }).cost * 1e9))
      const { client, principal } = yield* customer(3n * each)
      const statuses = yield* Effect.promise(() =>
        Promise.all(
          Array.from({ length: 200 }, () =>
            client.chat.completions.create(body).then(
              () => 200,
              (error) => (error as APIError).status
            )
          )
        )
      )
      expect(statuses.filter((status) => status === 200)).toHaveLength(3)
      expect(statuses.filter((status) => status === 402)).toHaveLength(197)
      expect(yield* money(principal)).toEqual({
        balance: 0n,
        held: 0n,
        spent: 3n * each,
        usage: 3n,
        entries: 0n,
        openHolds: 0n
      })
    })
  )
})
