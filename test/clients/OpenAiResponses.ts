/** Suite of OpenAI's client: `responses`. */
import { APIError } from "openai"
import { zodTextFormat } from "openai/helpers/zod"
import type { ResponseInputItem } from "openai/resources/responses/responses"
import { expect } from "vitest"
import { clientOf, costOf, readApiError, user } from "./OpenAiChats.ts"
import { nano } from "./support/Customer.ts"
import { BREAKS, type Host, MODEL, SEEING, SLOW } from "./support/Host.ts"
import {
  City,
  failure,
  PIXEL,
  refusals,
  retried,
  RIVERS,
  type Suite,
  SUNNY,
  TOOL_SAID,
  WEATHER
} from "./support/Suite.ts"

const tools = [
  {
    type: "function" as const,
    name: "get_weather",
    description: "Gives the weather",
    parameters: {
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
      additionalProperties: false
    },
    strict: true
  }
]

/** The tool loop of OpenAI's documentation: the client has none. */
const loop = async (host: Host, streamed: boolean) => {
  const who = await host.customer()
  const client = clientOf(who)
  const input: Array<ResponseInputItem> = user(WEATHER)
  let calls = 0
  for (let turn = 0; turn < 4; turn++) {
    const asked = { model: MODEL, input, tools }
    const response = streamed
      ? await client.responses.stream(asked).finalResponse()
      : await client.responses.create(asked)
    const asking = response.output.flatMap((item) => (item.type === "function_call" ? [item] : []))
    if (asking.length === 0) {
      expect(response.output_text).toContain(TOOL_SAID)
      break
    }
    for (const call of asking) {
      calls++
      expect(JSON.parse(call.arguments)).toMatchObject({ city: expect.any(String) })
      input.push(call, { type: "function_call_output", call_id: call.call_id, output: SUNNY })
    }
  }
  expect(calls).toBe(1)
  expect((await who.bill()).requests).toBe(2)
}

export const openAiResponses: Suite<"openaiResponses"> = {
  text: async (host) => {
    const who = await host.customer()
    const response = await clientOf(who).responses.create({ model: MODEL, input: RIVERS })
    expect(response).toMatchObject({ object: "response", status: "completed", model: MODEL })
    expect(response.output_text).toContain("rivers")
    expect((await who.bill()).requests).toBe(1)
  },
  stream: async (host) => {
    const client = clientOf(await host.customer())
    const words: Array<string> = []
    for await (const event of await client.responses.create({ model: MODEL, input: RIVERS, stream: true })) {
      if (event.type === "response.output_text.delta") words.push(event.delta)
    }
    expect(words.length).toBeGreaterThan(5)
    expect(words.join("")).toBe((await client.responses.create({ model: MODEL, input: RIVERS })).output_text)
  },
  usage: async (host) => {
    const who = await host.customer()
    const client = clientOf(who)
    const { usage } = await client.responses.create({ model: MODEL, input: RIVERS })
    expect(await who.bill()).toMatchObject({
      promptTokens: usage!.input_tokens,
      completionTokens: usage!.output_tokens,
      cost: costOf(usage)
    })
    expect((await client.responses.stream({ model: MODEL, input: RIVERS }).finalResponse()).usage).toEqual(usage)
    expect(nano((await who.bill()).cost)).toBe(2 * nano(costOf(usage)))
    expect(costOf(usage)).toBeGreaterThan(0)
  },
  cut: async (host) => {
    const client = clientOf(await host.customer())
    const response = await client.responses.create({ model: MODEL, input: RIVERS, max_output_tokens: 5 })
    expect(response).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
      usage: { output_tokens: 5 }
    })
  },
  turns: async (host) => {
    const client = clientOf(await host.customer())
    const first = await client.responses.create({ model: MODEL, input: RIVERS })
    const input = [...user(RIVERS), ...first.output, ...user("say more")] as Array<ResponseInputItem>
    const second = await client.responses.create({ model: MODEL, input })
    expect(second.output_text).toBe("more")
    expect(second.usage!.input_tokens).toBeGreaterThan(first.usage!.total_tokens)
    const error = await failure(() =>
      client.responses.create({ model: MODEL, input: "say more", previous_response_id: first.id })
    )
    expect(error).toMatchObject({ status: 400, param: "previous_response_id" })
  },
  picture: async (host) => {
    const client = clientOf(await host.customer())
    const image_url = `data:image/png;base64,${PIXEL}`
    const { output_text } = await client.responses.create({
      model: SEEING,
      input: [
        {
          role: "user",
          content: [
            { type: "input_text", text: "Look" },
            { type: "input_image", image_url, detail: "auto" }
          ]
        }
      ]
    })
    expect(output_text).toContain("one image")
  },
  tools: (host) => loop(host, false),
  toolsStreamed: (host) => loop(host, true),
  object: async (host) => {
    const client = clientOf(await host.customer())
    const asked = { model: MODEL, input: "A city", text: { format: zodTextFormat(City, "city") } }
    const { output_parsed } = await client.responses.parse(asked)
    expect(City.parse(output_parsed)).toEqual(output_parsed)
  },
  objectStreamed: async (host) => {
    const client = clientOf(await host.customer())
    const asked = { model: MODEL, input: "A city", text: { format: zodTextFormat(City, "city") } }
    const { output_parsed } = await client.responses.stream(asked).finalResponse()
    expect(City.parse(output_parsed)).toEqual(output_parsed)
  },
  abort: async (host) => {
    const who = await host.customer()
    const stream = await clientOf(who).responses.create({ model: SLOW, input: RIVERS, stream: true })
    let words = 0
    for await (const event of stream) {
      if (event.type === "response.output_text.delta" && ++words === 3) stream.controller.abort()
    }
    const { completionTokens } = await who.settled(1)
    expect(completionTokens).toBeGreaterThanOrEqual(3)
    expect(completionTokens).toBeLessThan(60)
  },
  broken: async (host) => {
    const who = await host.customer()
    let words = ""
    const error = await failure(async () => {
      for await (const event of await clientOf(who).responses.create({ model: BREAKS, input: RIVERS, stream: true })) {
        if (event.type === "response.output_text.delta") words += event.delta
      }
    })
    expect(words).not.toBe("")
    expect(error).toBeInstanceOf(APIError)
    expect(error).toMatchObject({ type: "upstream_error", code: "upstream_broken" })
    expect((await who.settled(1)).cost).toBeGreaterThan(0)
  },
  retried: retried(
    async (who, model, input) => (await clientOf(who, 1).responses.create({ model, input })).output_text
  ),
  ...refusals({
    ask: (who, model, wrong) =>
      clientOf(who).responses.create({ model, input: "Hello", ...(wrong ? { temperature: 3 } : {}) }),
    read: readApiError
  })
}
