/** Suites of the AI SDK that all its providers share, through `generateText` and `streamText`. */
import {
  APICallError,
  embedMany,
  generateImage,
  generateObject,
  generateText,
  isStepCount,
  type LanguageModel,
  Output,
  streamText,
  tool
} from "ai"
import { expect } from "vitest"
import type { Customer } from "./support/Customer.ts"
import { nano } from "./support/Customer.ts"
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
  SUNNY,
  TOOL_SAID,
  WEATHER,
  type Who
} from "./support/Suite.ts"

// The SDK warns about cases that these suites test on purpose.
globalThis.AI_SDK_LOG_WARNINGS = false

export type ModelOf = (who: Who, id: string) => LanguageModel

/** The cost of a request, as the provider passed it on. */
export const costOf = (usage: { readonly raw?: object }): number =>
  (usage.raw as { readonly cost?: number } | undefined)?.cost ?? 0

const weather = (ran: Array<string>) => ({
  get_weather: tool({
    description: "Gives the weather",
    inputSchema: Place,
    execute: ({ city }) => {
      ran.push(city)
      return SUNNY
    }
  })
})

/** The checks of a chat model. `modelOf` returns a model of the provider. */
export const aiChats = (modelOf: ModelOf) => {
  const someone = async (
    host: Host,
    id = MODEL
  ): Promise<{ readonly who: Customer; readonly model: LanguageModel }> => {
    const who = await host.customer()
    return { who, model: modelOf(who, id) }
  }
  return {
    text: async (host: Host) => {
      const { model, who } = await someone(host)
      const { finishReason, text } = await generateText({ model, prompt: RIVERS })
      expect(text).toContain("rivers")
      expect(finishReason).toBe("stop")
      expect((await who.bill()).requests).toBe(1)
    },
    stream: async (host: Host) => {
      const { model } = await someone(host)
      const words: Array<string> = []
      const stream = streamText({ model, prompt: RIVERS })
      for await (const word of stream.textStream) words.push(word)
      expect(words.length).toBeGreaterThan(5)
      expect(words.join("")).toBe((await generateText({ model, prompt: RIVERS })).text)
      expect(await stream.finishReason).toBe("stop")
    },
    usage: async (host: Host) => {
      const { model, who } = await someone(host)
      const { usage } = await generateText({ model, prompt: RIVERS })
      const bill = await who.bill()
      expect(bill).toMatchObject({ promptTokens: usage.inputTokens, completionTokens: usage.outputTokens })
      expect(costOf(usage)).toBe(bill.cost)
      const streamed = await streamText({ model, prompt: RIVERS }).usage
      expect(streamed).toMatchObject({ inputTokens: usage.inputTokens, outputTokens: usage.outputTokens })
      expect(costOf(streamed)).toBe(bill.cost)
      expect(nano((await who.bill()).cost)).toBe(2 * nano(bill.cost))
      expect(bill.cost).toBeGreaterThan(0)
    },
    cut: async (host: Host) => {
      const { model } = await someone(host)
      const { finishReason, usage } = await generateText({ model, prompt: RIVERS, maxOutputTokens: 5 })
      expect([finishReason, usage.outputTokens]).toEqual(["length", 5])
    },
    turns: async (host: Host) => {
      const { model } = await someone(host)
      const first = await generateText({ model, prompt: RIVERS })
      const messages = [
        { role: "user" as const, content: RIVERS },
        ...first.response.messages,
        { role: "user" as const, content: "say more" }
      ]
      const second = await generateText({ model, messages })
      expect(second.text).toBe("more")
      expect(second.usage.inputTokens).toBeGreaterThan(first.usage.totalTokens!)
    },
    picture: async (host: Host) => {
      const { model } = await someone(host, SEEING)
      const { text } = await generateText({
        model,
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: "Look" },
              { type: "file", data: Buffer.from(PIXEL, "base64"), mediaType: "image/png" }
            ]
          }
        ]
      })
      expect(text).toContain("one image")
    },
    tools: async (host: Host) => {
      const { model, who } = await someone(host)
      const ran: Array<string> = []
      const loop = { model, prompt: WEATHER, tools: weather(ran), stopWhen: isStepCount(4) }
      const { steps, text } = await generateText(loop)
      expect(text).toContain(TOOL_SAID)
      expect([steps.length, ran.length]).toEqual([2, 1])
      expect((await who.bill()).requests).toBe(2)
    },
    toolsStreamed: async (host: Host) => {
      const { model, who } = await someone(host)
      const ran: Array<string> = []
      const stream = streamText({ model, prompt: WEATHER, tools: weather(ran), stopWhen: isStepCount(4) })
      expect(await stream.text).toContain(TOOL_SAID)
      expect([(await stream.steps).length, ran.length]).toEqual([2, 1])
      expect((await who.bill()).requests).toBe(2)
    },
    object: async (host: Host) => {
      const { model } = await someone(host)
      const { output } = await generateText({ model, prompt: "A city", output: Output.object({ schema: City }) })
      expect(City.parse(output)).toEqual(output)
      const { object } = await generateObject({ model, prompt: "A city", schema: City })
      expect(City.parse(object)).toEqual(object)
    },
    objectStreamed: async (host: Host) => {
      const { model } = await someone(host)
      const stream = streamText({ model, prompt: "A city", output: Output.object({ schema: City }) })
      let parts = 0
      for await (const part of stream.partialOutputStream) if (part.city !== undefined) parts++
      expect(parts).toBeGreaterThan(0)
      const output = await stream.output
      expect(City.parse(output)).toEqual(output)
    },
    abort: async (host: Host) => {
      const { model, who } = await someone(host, SLOW)
      const stop = new AbortController()
      let words = 0
      let isAborted = false
      for await (const part of streamText({ model, prompt: RIVERS, abortSignal: stop.signal }).fullStream) {
        if (part.type === "text-delta" && ++words === 3) stop.abort()
        if (part.type === "abort") isAborted = true
      }
      expect(isAborted).toBe(true)
      const { completionTokens } = await who.settled(1)
      expect(completionTokens).toBeGreaterThanOrEqual(3)
      expect(completionTokens).toBeLessThan(60)
    },
    broken: async (host: Host) => {
      const { model, who } = await someone(host, BREAKS)
      let words = ""
      const errors: Array<unknown> = []
      for await (const part of streamText({ model, prompt: RIVERS, maxRetries: 0, onError: () => {} }).fullStream) {
        if (part.type === "text-delta") words += part.text
        if (part.type === "error") errors.push(part.error)
      }
      expect(words).not.toBe("")
      expect(errors).toHaveLength(1)
      expect(JSON.stringify(errors[0]) + String(errors[0])).toContain("its answer was incomplete")
      expect((await who.settled(1)).cost).toBeGreaterThan(0)
    },
    retried: retried(
      async (who, id, prompt) => (await generateText({ model: modelOf(who, id), prompt, maxRetries: 1 })).text
    ),
    ...refusals({
      ask: (who, id, wrong) =>
        generateText({
          model: modelOf(who, id),
          prompt: "Hello",
          maxRetries: 0,
          ...(wrong ? { temperature: 3 } : {})
        }),
      read: (error, status) => {
        if (!APICallError.isInstance(error)) throw error
        expect(error.isRetryable).toBe(status === 429)
        return { status: error.statusCode, message: error.message }
      }
    })
  } as const
}

/** The checks of a provider's other models. */
export const aiMedia = (providerOf: (who: Who) => AiProvider) => ({
  embeddings: async (host: Host) => {
    const who = await host.customer()
    const model = providerOf(who).embeddingModel("sluice-embed-small")
    const { embeddings, usage } = await embedMany({ model, values: ["one text", "another text"] })
    expect(embeddings.map(({ length }) => length)).toEqual([512, 512])
    const bill = await who.bill()
    expect(bill).toMatchObject({ requests: 1, promptTokens: usage.tokens })
    expect(bill.cost).toBeGreaterThan(0)
  },
  images: async (host: Host) => {
    const who = await host.customer()
    const model = providerOf(who).imageModel("sluice-image")
    const { images } = await generateImage({ model, prompt: "a harbour", n: 2, size: "256x256" })
    expect(images.map(({ uint8Array }) => isPng(uint8Array))).toEqual([true, true])
    expect((await who.bill()).cost).toBeGreaterThan(0)
  },
  imageEdits: async (host: Host) => {
    const who = await host.customer()
    const model = providerOf(who).imageModel("sluice-image")
    const prompt = { text: "a harbour", images: [Buffer.from(PIXEL, "base64")] }
    const error = await failure(() => generateImage({ model, prompt, maxRetries: 0 }))
    expect(error).toMatchObject({ statusCode: 404 })
  },
  completions: async (host: Host) => {
    const model = providerOf(await host.customer()).completionModel(MODEL)
    const error = await failure(() => generateText({ model, prompt: "Hello", maxRetries: 0 }))
    expect(error).toMatchObject({ statusCode: 404 })
  }
})

type AiProvider = {
  readonly completionModel: (id: string) => LanguageModel
  readonly embeddingModel: (id: string) => Parameters<typeof embedMany>[0]["model"]
  readonly imageModel: (id: string) => Parameters<typeof generateImage>[0]["model"]
}
