/**
 * Two gateways in a row: one server over the simulator, a second one whose catalog points at the first, and OpenAI's client.
 * Answers and costs of the second equal those of the first, streamed or not.
 */
import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { APIError, type OpenAI } from "openai"
import { chatEntry, type Gateways, startGateways } from "@sluice/testing/servers/Gateways"
import { type ServerProcess, TEST_KEY } from "@sluice/testing/servers/ServerProcess"

let gateways: Gateways
beforeAll(async () => {
  gateways = await startGateways(({ down, upstream }) => [
    chatEntry("house/small", { ...upstream, model: "sluice-small" }),
    { ...chatEntry("house/roomy", { ...upstream, model: "sluice-small" }), context_length: 200_000 },
    chatEntry("house/gone", { ...upstream, model: "no-such-model" }),
    chatEntry("house/locked", { ...upstream, model: "sluice-small", api_key_env: "WRONG_KEY" }),
    chatEntry("house/down", { ...down, model: "sluice-small" })
  ])
}, 300_000)
afterAll(() => gateways.end())

type Ask = Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, "model" | "stream" | "stream_options">
const user = (content: string) => [{ role: "user" as const, content }]

const whole = async (client: OpenAI, model: string, ask: Ask) => {
  const { choices, usage } = await client.chat.completions.create({ model, ...ask })
  return { choices: choices.map(({ finish_reason, message }) => ({ finish_reason, message })), usage }
}

/** A stream assembled by the client's own code, which adds parsed fields. */
const streamed = async (client: OpenAI, model: string, ask: Ask) => {
  const stream = client.chat.completions.stream({ model, ...ask, stream_options: { include_usage: true } })
  const { choices, usage } = await stream.finalChatCompletion()
  const own = ["parsed", "parsed_arguments", "refusal"]
  const bare = JSON.stringify(choices, (name, value: unknown) => (own.includes(name) ? undefined : value))
  const plain: typeof choices = JSON.parse(bare)
  return { choices: plain.map(({ finish_reason, message }) => ({ finish_reason, message })), usage }
}

const weather = {
  type: "function" as const,
  function: {
    name: "weather",
    description: "The weather of a city",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
  }
}

const asks: Readonly<Record<string, Ask>> = {
  plain: { messages: user("Tell me about rivers.") },
  "with a limit": { messages: user("Tell me about rivers."), max_tokens: 7 },
  "with a stop": { messages: user("Tell me about mountains."), stop: ["a"], temperature: 0 },
  "three choices": { messages: user("Tell me about the sea."), n: 3 },
  "a tool": { messages: user("What is the weather in Rome?"), tools: [weather] },
  "a tool's answer": {
    messages: [
      ...user("What is the weather in Rome?"),
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "call_1", type: "function", function: { name: "weather", arguments: '{"city":"Rome"}' } }]
      },
      { role: "tool", tool_call_id: "call_1", content: "rain" }
    ],
    tools: [weather]
  },
  "a schema": {
    messages: user("A city."),
    response_format: {
      type: "json_schema",
      json_schema: {
        name: "city",
        schema: {
          type: "object",
          properties: { name: { type: "string" }, people: { type: "integer" } },
          required: ["name"]
        }
      }
    }
  }
}

describe("a gateway behind a gateway", () => {
  it.each(Object.keys(asks))(
    "%s: same answer and cost at both servers, streamed and buffered, to the nano-USD",
    async (name) => {
      const ask = asks[name]!
      const [direct, viaWhole, viaStream] = await Promise.all([
        whole(gateways.far, "sluice-small", ask),
        whole(gateways.near, "house/small", ask),
        streamed(gateways.near, "house/small", ask)
      ])
      expect(viaWhole).toEqual(direct)
      expect(viaStream).toEqual(direct)
      expect(direct.usage).toHaveProperty(
        "cost",
        expect.closeTo((direct.usage!.prompt_tokens * 15 + direct.usage!.completion_tokens * 60) / 1e8, 9)
      )
    }
  )

  it("a caller that disconnects ends the answer at the first server too, and pays the same there", async () => {
    const spent = async (server: ServerProcess) =>
      100 - (await server.call("GET", "/api/v1/billing/balance")).json.data.balance_usd
    const held = async (server: ServerProcess) =>
      (await server.call("GET", "/api/v1/billing/balance")).json.data.held_usd
    const { back, front } = gateways
    const before = [await spent(front), await spent(back)]
    const stream = await gateways.near.chat.completions.create({
      model: "house/small",
      messages: user("Tell me about lakes."),
      stream: true
    })
    let chunks = 0
    for await (const _ of stream) if (++chunks === 3) break
    for (const server of [front, back]) while ((await held(server)) !== 0) await new Promise((go) => setTimeout(go, 10))
    const [nearPaid, farPaid] = [(await spent(front)) - before[0]!, (await spent(back)) - before[1]!]
    expect(nearPaid).toBeGreaterThan(0)
    expect(nearPaid).toBeLessThanOrEqual(farPaid + 1e-9)
  })

  it("a request that the first server refuses is a 400 at the gateway too, and is not retried", async () => {
    const schema = { type: "object", patternProperties: { "^a": { type: "string" } } }
    for (const stream of [true, false]) {
      const asked = gateways.near.chat.completions.create({
        model: "house/small",
        messages: user("Hi"),
        stream,
        response_format: { type: "json_schema", json_schema: { name: "a", schema } }
      })
      await expect(asked).rejects.toMatchObject({
        status: 400,
        type: "invalid_request_error",
        code: "upstream_refused",
        param: null
      })
    }
  })

  it("a prompt that only the first server finds too long gets the same error as the gateway's own check, and is free", async () => {
    const { front, near } = gateways
    const prompt = "word ".repeat(40_000)
    // A hold is released a moment after the answer.
    const spent = async () => {
      for (;;) {
        const { data } = (await front.call("GET", "/api/v1/billing/balance")).json
        if (data.held_usd === 0) return data
        await new Promise((go) => setTimeout(go, 10))
      }
    }
    const before = await spent()
    for (const model of ["house/small", "house/roomy"]) {
      for (const stream of [true, false]) {
        await expect(near.chat.completions.create({ model, messages: user(prompt), stream })).rejects.toMatchObject({
          status: 400,
          type: "invalid_request_error",
          code: "context_length_exceeded",
          param: "messages",
          error: { message: expect.stringContaining("maximum context length") }
        })
      }
    }
    expect(await spent()).toEqual(before)
    expect((await front.call("GET", "/readyz")).json.models_without_upstream ?? []).not.toContain("house/roomy")
  })

  it("a refusal of the first server comes in the gateway's own words", async () => {
    for (const [model, status] of [
      ["house/gone", 502],
      ["house/locked", 502],
      ["house/down", 502]
    ] as const) {
      for (const stream of [true, false]) {
        const error = await gateways.near.chat.completions.create({ model, messages: user("Hi"), stream }).then(
          () => undefined,
          (error: unknown) => error
        )
        if (!(error instanceof APIError)) throw error ?? new Error("No error came")
        expect([model, error.status, error.type]).toEqual([model, status, "upstream_error"])
        for (const secret of [
          TEST_KEY,
          String(gateways.back.options.port),
          "127.0.0.1",
          "no-such-model",
          "sluice-small"
        ]) {
          expect(JSON.stringify([error.error, error.message, [...error.headers!]])).not.toContain(secret)
        }
      }
    }
  })

  it("/readyz names the models whose upstreams fail, and stays ready", async () => {
    const { front, near } = gateways
    const ready = async () => (await front.call("GET", "/readyz")).json
    for (let i = 0; i < 5; i++) {
      await near.chat.completions.create({ model: "house/down", messages: user("Hi") }).catch(() => undefined)
    }
    expect(await ready()).toMatchObject({
      status: "ready",
      models_without_upstream: expect.arrayContaining(["house/down"])
    })
    expect((await ready()).models_without_upstream).not.toContain("house/small")
    const error = await near.chat.completions
      .create({ model: "house/down", messages: user("Hi") })
      .catch((error: unknown) => error)
    expect(error).toMatchObject({ status: 503, type: "overloaded_error" })
  })

  it("/metrics counts requests and failures of each upstream by number, without its address", async () => {
    const { back, front } = gateways
    const { text } = await front.call("GET", "/metrics")
    const lines = text.split("\n")
    const valueOf = (series: string) => Number(lines.find((line) => line.startsWith(`${series} `))?.split(" ")[1])
    expect(lines).toContain('sluice_upstream_state{model="house/down",upstream="0",state="open"} 1')
    expect(lines).toContain('sluice_upstream_state{model="house/small",upstream="0",state="closed"} 1')
    const failed = valueOf('sluice_upstream_failures_total{model="house/down",upstream="0",fault="unreachable"}')
    expect(failed).toBeGreaterThanOrEqual(5)
    expect(valueOf('sluice_upstream_requests_total{model="house/down",upstream="0"}')).toBe(failed)
    for (const [model, fault] of [
      ["house/gone", "status_4xx"],
      ["house/locked", "status_4xx"]
    ]) {
      expect(valueOf(`sluice_upstream_failures_total{model="${model}",upstream="0",fault="${fault}"}`)).toBeGreaterThan(
        0
      )
    }
    expect(valueOf('sluice_upstream_requests_total{model="house/small",upstream="0"}')).toBeGreaterThan(5)
    for (const secret of [TEST_KEY, String(back.options.port), "127.0.0.1", "no-such-model", "sluice-small"]) {
      expect(text).not.toContain(secret)
    }
  })

  it("the gateway's log and lists do not reveal the first server", async () => {
    const { text } = await gateways.front.call("GET", "/v1/models")
    expect(JSON.parse(text).data.map(({ id }: { id: string }) => id)).toContain("house/small")
    for (const secret of [TEST_KEY, String(gateways.back.options.port), "no-such-model", "sluice-small"]) {
      expect(text).not.toContain(secret)
      expect(gateways.front.output).not.toContain(secret)
    }
    expect(gateways.front.output).toContain("An upstream failed")
  })
})
