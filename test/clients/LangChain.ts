/** Suites of LangChain's OpenAI models: chat, `/responses`, embeddings, and its image tool. */
import { type AIMessageChunk, HumanMessage, ToolMessage } from "@langchain/core/messages"
import { tool } from "@langchain/core/tools"
import { ChatOpenAI, DallEAPIWrapper, OpenAI as Completions, OpenAIEmbeddings } from "@langchain/openai"
import { APIError } from "openai"
import { expect } from "vitest"
import { BREAKS, type Host, MODEL, SEEING, SLOW } from "./support/Host.ts"
import {
  City,
  failure,
  isPng,
  PIXEL,
  Place,
  refusals,
  retried,
  RIVERS,
  type Suite,
  SUNNY,
  TOOL_SAID,
  WEATHER,
  type Who
} from "./support/Suite.ts"

const placeOf = ({ apiKey, baseURL }: Who) => ({ apiKey, configuration: { baseURL }, maxRetries: 0 })

interface Usage {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly total_tokens: number
}
/** LangChain's types lack this field. */
const usageOf = (message: AIMessageChunk) => message.usage_metadata as Usage | undefined

/** Concatenates the chunks of a stream, as LangChain's documentation shows. */
const whole = async (stream: AsyncIterable<AIMessageChunk>): Promise<AIMessageChunk> => {
  let sum: AIMessageChunk | undefined
  for await (const part of stream) sum = sum === undefined ? part : sum.concat(part)
  if (sum === undefined) throw new Error("Nothing came")
  return sum
}

const chats = (useResponsesApi: boolean) => {
  const modelOf = (who: Who, model = MODEL, more: object = {}) =>
    new ChatOpenAI({ model, useResponsesApi, ...placeOf(who), ...more })
  const weather = (ran: Array<string>) =>
    tool(
      ({ city }) => {
        ran.push(city)
        return SUNNY
      },
      { name: "get_weather", description: "Gives the weather", schema: Place }
    )

  /** A tool loop, as LangChain's documentation shows. With `streamed` the chunks are concatenated. */
  const loop = async (host: Host, streamed: boolean) => {
    const who = await host.customer()
    const ran: Array<string> = []
    const weatherTool = weather(ran)
    const model = modelOf(who).bindTools([weatherTool])
    const messages: Array<HumanMessage | ToolMessage | AIMessageChunk> = [new HumanMessage(WEATHER)]
    const answer = async () => (streamed ? whole(await model.stream(messages)) : model.invoke(messages))
    for (let turn = 0; turn < 4; turn++) {
      const said = await answer()
      messages.push(said)
      if (said.tool_calls === undefined || said.tool_calls.length === 0) break
      for (const call of said.tool_calls) {
        const told: unknown = await weatherTool.invoke({ ...call, type: "tool_call" })
        if (!(told instanceof ToolMessage)) throw new Error("No tool has answered")
        messages.push(told)
      }
    }
    expect(messages.at(-1)!.text).toContain(TOOL_SAID)
    expect(ran).toHaveLength(1)
    expect((await who.bill()).requests).toBe(2)
  }

  return {
    text: async (host: Host) => {
      const who = await host.customer()
      expect((await modelOf(who).invoke(RIVERS)).text).toContain("rivers")
      expect((await who.bill()).requests).toBe(1)
    },
    stream: async (host: Host) => {
      const model = modelOf(await host.customer())
      const words: Array<string> = []
      for await (const part of await model.stream(RIVERS)) words.push(part.text)
      expect(words.length).toBeGreaterThan(5)
      expect(words.join("")).toBe((await model.invoke(RIVERS)).text)
    },
    usage: async (host: Host) => {
      const who = await host.customer()
      const model = modelOf(who)
      const usage = usageOf(await model.invoke(RIVERS))
      const bill = await who.bill()
      expect(bill).toMatchObject({ promptTokens: usage!.input_tokens, completionTokens: usage!.output_tokens })
      expect(bill.cost).toBeGreaterThan(0)
      expect(usage).not.toHaveProperty("cost")
      const { input_tokens, output_tokens } = usage!
      expect(usageOf(await whole(await model.stream(RIVERS)))).toMatchObject({ input_tokens, output_tokens })
    },
    cut: async (host: Host) => {
      const answer = await modelOf(await host.customer(), MODEL, { maxTokens: 5 }).invoke(RIVERS)
      expect(usageOf(answer)!.output_tokens).toBe(5)
      expect(answer.response_metadata).toMatchObject(
        useResponsesApi ? { incomplete_details: { reason: "max_output_tokens" } } : { finish_reason: "length" }
      )
    },
    turns: async (host: Host) => {
      const model = modelOf(await host.customer())
      const first = await model.invoke(RIVERS)
      const second = await model.invoke([new HumanMessage(RIVERS), first, new HumanMessage("say more")])
      expect(second.text).toBe("more")
      expect(usageOf(second)!.input_tokens).toBeGreaterThan(usageOf(first)!.total_tokens)
    },
    picture: async (host: Host) => {
      const model = modelOf(await host.customer(), SEEING)
      const message = new HumanMessage({
        content: [
          { type: "text", text: "Look" },
          { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } }
        ]
      })
      expect((await model.invoke([message])).text).toContain("one image")
    },
    tools: (host: Host) => loop(host, false),
    toolsStreamed: (host: Host) => loop(host, true),
    object: async (host: Host) => {
      const model = modelOf(await host.customer())
      for (const method of ["jsonSchema", "functionCalling"] as const) {
        const city = await model.withStructuredOutput(City, { method }).invoke("A city")
        expect(City.parse(city)).toEqual(city)
      }
    },
    objectStreamed: async (host: Host) => {
      const model = modelOf(await host.customer())
      let last: unknown
      for await (const part of await model.withStructuredOutput(City).stream("A city")) last = part
      expect(City.parse(last)).toEqual(last)
    },
    abort: async (host: Host) => {
      const who = await host.customer()
      const stop = new AbortController()
      let words = 0
      const error = await failure(async () => {
        for await (const part of await modelOf(who, SLOW).stream(RIVERS, { signal: stop.signal })) {
          if (part.text !== "" && ++words === 3) stop.abort()
        }
      })
      expect(error).toMatchObject({ name: "AbortError" })
      const { completionTokens } = await who.settled(1)
      expect(completionTokens).toBeGreaterThanOrEqual(3)
      expect(completionTokens).toBeLessThan(60)
    },
    broken: async (host: Host) => {
      const who = await host.customer()
      let words = ""
      const error = await failure(async () => {
        for await (const part of await modelOf(who, BREAKS).stream(RIVERS)) words += part.text
      })
      expect(words).not.toBe("")
      expect(String(error)).toContain("its answer was incomplete")
      expect((await who.settled(1)).cost).toBeGreaterThan(0)
    },
    retried: retried(async (who, id, prompt) => (await modelOf(who, id, { maxRetries: 1 }).invoke(prompt)).text),
    ...refusals({
      ask: (who, id, wrong) => modelOf(who, id, wrong ? { temperature: 3 } : {}).invoke("Hello"),
      read: (error) => {
        if (!(error instanceof APIError)) throw error
        return error
      }
    })
  } as const
}

export const langChain: Suite<"langchain"> = {
  ...chats(false),
  choices: async (host) => {
    const model = new ChatOpenAI({ model: MODEL, n: 3, ...placeOf(await host.customer()) })
    const { generations } = await model.generate([[new HumanMessage(RIVERS)]])
    expect(new Set(generations[0]!.map(({ text }) => text)).size).toBe(3)
  },
  completions: async (host) => {
    const model = new Completions({ model: MODEL, ...placeOf(await host.customer()) })
    expect(await failure(() => model.invoke("Hello"))).toMatchObject({ status: 404 })
  },
  embeddings: async (host) => {
    const who = await host.customer()
    const embeddings = new OpenAIEmbeddings({ model: "sluice-embed-small", ...placeOf(who) })
    const vectors = await embeddings.embedDocuments(["one text", "another text"])
    expect(vectors.map(({ length }) => length)).toEqual([512, 512])
    expect(await embeddings.embedQuery("one text")).toEqual(vectors[0])
    const bill = await who.bill()
    expect(bill.requests).toBe(2)
    expect(bill.cost).toBeGreaterThan(0)
  },
  images: async (host) => {
    const who = await host.customer()
    const settings = { model: "sluice-image", apiKey: who.apiKey, baseUrl: who.baseURL } as const
    const painted = await new DallEAPIWrapper({ ...settings, dallEResponseFormat: "b64_json" }).invoke("a harbour")
    expect(isPng(Buffer.from(painted, "base64"))).toBe(true)
    expect((await who.bill()).cost).toBeGreaterThan(0)
    const link: string = await new DallEAPIWrapper(settings).invoke("a harbour")
    expect(isPng(Buffer.from(await (await fetch(link)).arrayBuffer()))).toBe(true)
  }
}

export const langChainResponses: Suite<"langchainResponses"> = chats(true)
