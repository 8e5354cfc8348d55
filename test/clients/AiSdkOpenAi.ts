/** Suites of the AI SDK with its provider for OpenAI: `.chat()`, the default (`/responses`), and audio. */
import { createOpenAI } from "@ai-sdk/openai"
import { APICallError, generateSpeech, generateText, streamText, transcribe } from "ai"
import { expect } from "vitest"
import { framesOf } from "@sluice/testing/fixtures/Sounds"
import { aiChats, aiMedia } from "./AiSdk.ts"
import { MODEL } from "./support/Host.ts"
import { failure, RIVERS, SPOKEN, type Suite, type Who } from "./support/Suite.ts"

const providerOf = (who: Who) => createOpenAI({ apiKey: who.apiKey, baseURL: who.baseURL })

export const aiSdkOpenAiChat: Suite<"aiChat"> = {
  ...aiChats((who, id) => providerOf(who).chat(id)),
  usage: async (host) => {
    const who = await host.customer()
    const model = providerOf(who).chat(MODEL)
    const { response, usage } = await generateText({ model, prompt: RIVERS, include: { responseBody: true } })
    const bill = await who.bill()
    expect(bill).toMatchObject({ promptTokens: usage.inputTokens, completionTokens: usage.outputTokens })
    expect(usage.raw).not.toHaveProperty("cost")
    expect(response.body).toMatchObject({ usage: { cost: bill.cost } })
    expect((await streamText({ model, prompt: RIVERS }).usage).totalTokens).toBe(usage.totalTokens)
  }
}

export const aiSdkOpenAi: Suite<"aiOpenai"> = {
  ...aiChats((who, id) => providerOf(who)(id)),
  ...aiMedia((who) => {
    const provider = providerOf(who)
    return {
      completionModel: (id) => provider.completion(id),
      embeddingModel: (id) => provider.embeddingModel(id),
      imageModel: (id) => provider.imageModel(id)
    }
  }),
  turns: async (host) => {
    const model = providerOf(await host.customer())(MODEL)
    const first = await generateText({ model, prompt: RIVERS })
    const messages = [
      { role: "user" as const, content: RIVERS },
      ...first.response.messages,
      { role: "user" as const, content: "say more" }
    ]
    const providerOptions = { openai: { store: false } }
    expect((await generateText({ model, messages, providerOptions })).text).toBe("more")
    const error = await failure(() => generateText({ model, messages }))
    expect(error).toBeInstanceOf(APICallError)
    expect(error).toMatchObject({ statusCode: 400, message: expect.stringContaining("store: false") })
  },
  speech: async (host) => {
    const who = await host.customer()
    const model = providerOf(who).speech("sluice-voice")
    const { audio } = await generateSpeech({ model, text: SPOKEN, voice: "nova" })
    expect(audio.mediaType).toBe("audio/mpeg")
    expect(framesOf(Buffer.from(audio.uint8Array)).frames).toBeGreaterThan(50)
    const wav = await generateSpeech({ model, text: SPOKEN, outputFormat: "wav" })
    expect(wav.audio.mediaType).toBe("audio/wav")
    const bill = await who.bill()
    expect(bill.requests).toBe(2)
    expect(bill.cost).toBeGreaterThan(0)
  },
  transcription: async (host) => {
    const who = await host.customer()
    const provider = providerOf(who)
    const { audio } = await generateSpeech({ model: provider.speech("sluice-voice"), text: SPOKEN })
    const model = provider.transcription("sluice-listen")
    const plain = await transcribe({ model, audio: audio.uint8Array })
    expect(plain.text).toBe(SPOKEN)
    const providerOptions = { openai: { responseFormat: "verbose_json", timestampGranularities: ["word", "segment"] } }
    const timed = await transcribe({ model, audio: audio.uint8Array, providerOptions })
    expect(timed).toMatchObject({ text: SPOKEN, language: "en" })
    expect(timed.durationInSeconds).toBeGreaterThan(1)
    expect(timed.segments.map(({ text }) => text).join(" ")).toBe(SPOKEN)
    expect((await who.bill()).requests).toBe(3)
  }
}
