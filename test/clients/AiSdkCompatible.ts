/** Suite of the AI SDK with its provider for OpenAI-compatible servers. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { generateText, NoObjectGeneratedError, Output, streamText } from "ai"
import { expect } from "vitest"
import { aiChats, aiMedia } from "./AiSdk.ts"
import { MODEL } from "./support/Host.ts"
import { City, failure, RIVERS, type Suite, type Who } from "./support/Suite.ts"

const providerOf = (who: Who, settings: object = {}) =>
  createOpenAICompatible({ name: "sluice", apiKey: who.apiKey, baseURL: who.baseURL, ...settings })

const chats = aiChats((who, id) => providerOf(who, { includeUsage: true, supportsStructuredOutputs: true })(id))

export const aiSdkCompatible: Suite<"aiCompatible"> = {
  ...chats,
  ...aiMedia(providerOf),
  usage: async (host) => {
    await chats.usage(host)
    const model = providerOf(await host.customer())(MODEL)
    expect((await streamText({ model, prompt: RIVERS }).usage).totalTokens).toBeUndefined()
  },
  object: async (host) => {
    await chats.object(host)
    const model = providerOf(await host.customer())(MODEL)
    const asked = { model, prompt: "A city", output: Output.object({ schema: City }) }
    const error = await failure(async () => (await generateText(asked)).output)
    expect(error).toBeInstanceOf(NoObjectGeneratedError)
  }
}
