/** Suite of OpenAI's client: `chat.completions` and the other endpoints that answer with text. */
import OpenAI, {
  APIError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  NotFoundError,
  RateLimitError
} from "openai"
import { zodResponseFormat } from "openai/helpers/zod"
import { expect } from "vitest"
import { BREAKS, MODEL, SEEING, SLOW } from "./support/Host.ts"
import { nano } from "./support/Customer.ts"
import {
  type Asking,
  City,
  failure,
  PIXEL,
  refusals,
  retried,
  RIVERS,
  type Suite,
  type Who,
  SUNNY,
  TOOL_SAID,
  WEATHER
} from "./support/Suite.ts"

export const clientOf = ({ apiKey, baseURL }: Who, maxRetries = 0) => new OpenAI({ apiKey, baseURL, maxRetries })

export const user = (content: string) => [{ role: "user" as const, content }]

/** OpenAI's types lack the cost of a request. */
export const costOf = (usage: object | null | undefined): number => (usage as { readonly cost: number }).cost

/** The error class of the client for a status. */
const CLASSES: Readonly<Record<number, abstract new (...args: never) => APIError>> = {
  400: BadRequestError,
  401: AuthenticationError,
  402: APIError,
  404: NotFoundError,
  429: RateLimitError
}
const CODES: Readonly<Record<number, object>> = {
  400: { type: "invalid_request_error", param: "temperature" },
  401: { type: "authentication_error", code: "invalid_api_key" },
  402: { type: "insufficient_quota", code: "insufficient_credits" },
  404: { type: "invalid_request_error", code: "model_not_found", param: "model" },
  429: { type: "rate_limit_error", code: "rate_limit_exceeded" }
}

export const readApiError: Asking["read"] = (error, status) => {
  expect(error).toBeInstanceOf(CLASSES[status])
  expect(error).toMatchObject(CODES[status]!)
  if (!(error instanceof APIError)) throw error
  expect(error.requestID).toBeTruthy()
  return error
}

export const weatherTool = (ran: Array<string>) => ({
  type: "function" as const,
  function: {
    name: "get_weather",
    description: "Gives the weather",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    parse: JSON.parse,
    function: ({ city }: { readonly city: string }) => {
      ran.push(city)
      return SUNNY
    }
  }
})

export const openAiChats = {
  text: async (host) => {
    const who = await host.customer()
    const answer = await clientOf(who).chat.completions.create({ model: MODEL, messages: user(RIVERS) })
    expect(answer).toMatchObject({ object: "chat.completion", model: MODEL })
    expect(answer.choices[0]).toMatchObject({ finish_reason: "stop", message: { role: "assistant" } })
    expect(answer.choices[0]!.message.content).toContain("rivers")
    expect((await who.bill()).requests).toBe(1)
  },
  stream: async (host) => {
    const client = clientOf(await host.customer())
    const asked = { model: MODEL, messages: user(RIVERS) }
    const whole = await client.chat.completions.create(asked)
    const words: Array<string> = []
    for await (const chunk of await client.chat.completions.create({ ...asked, stream: true })) {
      words.push(chunk.choices[0]?.delta.content ?? "")
    }
    expect(words.length).toBeGreaterThan(5)
    expect(words.join("")).toBe(whole.choices[0]!.message.content)
    expect(await client.chat.completions.stream(asked).finalContent()).toBe(words.join(""))
  },
  usage: async (host) => {
    const who = await host.customer()
    const client = clientOf(who)
    const asked = { model: MODEL, messages: user(RIVERS) }
    const { usage } = await client.chat.completions.create(asked)
    expect(await who.bill()).toMatchObject({
      promptTokens: usage!.prompt_tokens,
      completionTokens: usage!.completion_tokens,
      cost: costOf(usage)
    })
    const options = { ...asked, stream_options: { include_usage: true } }
    expect((await client.chat.completions.stream(options).finalChatCompletion()).usage).toEqual(usage)
    expect(nano((await who.bill()).cost)).toBe(2 * nano(costOf(usage)))
    expect(costOf(usage)).toBeGreaterThan(0)
  },
  cut: async (host) => {
    const client = clientOf(await host.customer())
    for (const limit of [{ max_tokens: 5 }, { max_completion_tokens: 5 }]) {
      const answer = await client.chat.completions.create({ model: MODEL, messages: user(RIVERS), ...limit })
      expect(answer.choices[0]!.finish_reason).toBe("length")
      expect(answer.usage!.completion_tokens).toBe(5)
    }
  },
  choices: async (host) => {
    const client = clientOf(await host.customer())
    const { choices } = await client.chat.completions.create({ model: MODEL, messages: user(RIVERS), n: 3 })
    expect(choices.map(({ index }) => index)).toEqual([0, 1, 2])
    expect(new Set(choices.map(({ message }) => message.content)).size).toBe(3)
  },
  turns: async (host) => {
    const client = clientOf(await host.customer())
    const first = await client.chat.completions.create({ model: MODEL, messages: user(RIVERS) })
    const messages = [...user(RIVERS), first.choices[0]!.message, ...user("say more")]
    const second = await client.chat.completions.create({ model: MODEL, messages })
    expect(second.choices[0]!.message.content).toBe("more")
    expect(second.usage!.prompt_tokens).toBeGreaterThan(first.usage!.total_tokens)
  },
  picture: async (host) => {
    const client = clientOf(await host.customer())
    const answer = await client.chat.completions.create({
      model: SEEING,
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "Look" },
            { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } }
          ]
        }
      ]
    })
    expect(answer.choices[0]!.message.content).toContain("one image")
  },
  tools: async (host) => {
    const who = await host.customer()
    const ran: Array<string> = []
    const loop = { model: MODEL, messages: user(WEATHER), tools: [weatherTool(ran)] }
    expect(await clientOf(who).chat.completions.runTools(loop).finalContent()).toContain(TOOL_SAID)
    expect(ran).toHaveLength(1)
    expect((await who.bill()).requests).toBe(2)
  },
  toolsStreamed: async (host) => {
    const who = await host.customer()
    const ran: Array<string> = []
    const loop = { model: MODEL, messages: user(WEATHER), tools: [weatherTool(ran)], stream: true as const }
    expect(await clientOf(who).chat.completions.runTools(loop).finalContent()).toContain(TOOL_SAID)
    expect(ran).toHaveLength(1)
    expect((await who.bill()).requests).toBe(2)
  },
  object: async (host) => {
    const client = clientOf(await host.customer())
    const asked = { model: MODEL, messages: user("A city"), response_format: zodResponseFormat(City, "city") }
    const { choices } = await client.chat.completions.parse(asked)
    expect(City.parse(choices[0]!.message.parsed)).toEqual(choices[0]!.message.parsed)
  },
  objectStreamed: async (host) => {
    const client = clientOf(await host.customer())
    const asked = { model: MODEL, messages: user("A city"), response_format: zodResponseFormat(City, "city") }
    const { choices } = await client.chat.completions.stream(asked).finalChatCompletion()
    expect(City.parse(choices[0]!.message.parsed)).toEqual(choices[0]!.message.parsed)
  },
  abort: async (host) => {
    const who = await host.customer()
    const stop = new AbortController()
    const stream = await clientOf(who).chat.completions.create(
      { model: SLOW, messages: user(RIVERS), stream: true },
      { signal: stop.signal }
    )
    let words = 0
    for await (const chunk of stream) {
      if (chunk.choices[0]?.delta.content !== undefined && ++words === 3) stop.abort()
    }
    const { completionTokens } = await who.settled(1)
    expect(completionTokens).toBeGreaterThanOrEqual(words)
    expect(completionTokens).toBeLessThan(60)
    const gone = new AbortController()
    const late = clientOf(who).chat.completions.create({ model: SLOW, messages: user(RIVERS) }, { signal: gone.signal })
    gone.abort()
    expect(await failure(() => late)).toBeInstanceOf(APIUserAbortError)
  },
  broken: async (host) => {
    const who = await host.customer()
    let words = ""
    const error = await failure(async () => {
      const asked = { model: BREAKS, messages: user(RIVERS), stream: true } as const
      for await (const chunk of await clientOf(who).chat.completions.create(asked)) {
        words += chunk.choices[0]?.delta.content ?? ""
      }
    })
    expect(words).not.toBe("")
    expect(error).toBeInstanceOf(APIError)
    expect(error).toMatchObject({ type: "upstream_error", code: "upstream_broken" })
    expect((await who.settled(1)).cost).toBeGreaterThan(0)
  },
  retried: retried(async (who, model, prompt) => {
    const { choices } = await clientOf(who, 1).chat.completions.create({ model, messages: user(prompt) })
    return choices[0]!.message.content
  }),
  completions: async (host) => {
    const client = clientOf(await host.customer())
    const error = await failure(() => client.completions.create({ model: MODEL, prompt: "Hello" }))
    expect(error).toBeInstanceOf(NotFoundError)
  },
  ...refusals({
    ask: (who, model, wrong) =>
      clientOf(who).chat.completions.create({ model, messages: user("Hello"), ...(wrong ? { temperature: 3 } : {}) }),
    read: readApiError
  })
} satisfies Partial<Suite<"openai">>
