/** Stock clients that use /responses by default, unmodified: the AI SDK with its OpenAI provider, and OpenAI's Agents. */
import { createOpenAI } from "@ai-sdk/openai"
import { expect, layer } from "@effect/vitest"
import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool as agentTool } from "@openai/agents"
import { instant } from "@sluice/simulator/models/ModelWorld"
import { APICallError, generateText, Output, stepCountIs, streamText, tool } from "ai"
import { Effect, Layer } from "effect"
import { z } from "zod"
import { ownPglite } from "@sluice/testing/engines/Databases"
import { money } from "@sluice/testing/fixtures/Workspace"
import { chatServer, simulateModels } from "../support/ChatServer.ts"
import { customer, keys, NANO } from "../support/Customer.ts"

const Running = chatServer(keys, simulateModels(instant(7))).pipe(Layer.provideMerge(ownPglite))

const question = "What is the weather in Lisbon?"
const City = z.object({ city: z.string() })
const said = "The tool answered: It is sunny."

layer(Running, { excludeTestServices: true, timeout: "5 minutes" })("clients that ask /responses", (it) => {
  const aiSdk = Effect.map(customer(10n * NANO), ({ apiKey, principal, url }) => ({
    model: createOpenAI({ apiKey, baseURL: `${url}/v1` })("sluice-small"),
    principal
  }))
  const asked: Array<string> = []
  const tools = {
    get_weather: tool({
      description: "Gives the weather",
      inputSchema: City,
      execute: ({ city }) => {
        asked.push(city)
        return "It is sunny"
      }
    })
  }

  it.effect("the AI SDK gets the same text and usage, streamed and buffered", () =>
    Effect.gen(function* () {
      const { model, principal } = yield* aiSdk
      const whole = yield* Effect.promise(() => generateText({ model, prompt: "Tell me about rivers." }))
      const streamed = yield* Effect.promise(async () => {
        const stream = streamText({ model, prompt: "Tell me about rivers." })
        const words: Array<string> = []
        for await (const word of stream.textStream) words.push(word)
        return { words, usage: await stream.usage, reason: await stream.finishReason }
      })
      expect(streamed.words.length).toBeGreaterThan(3)
      expect(streamed.words.join("")).toBe(whole.text)
      expect([streamed.usage.totalTokens, streamed.reason]).toEqual([whole.usage.totalTokens, "stop"])
      expect(whole.usage.outputTokens).toBeGreaterThan(5)
      const short = yield* Effect.promise(() => generateText({ model, prompt: "Tell me a lot.", maxOutputTokens: 5 }))
      expect([short.finishReason, short.usage.outputTokens]).toEqual(["length", 5])
      expect(yield* money(principal)).toMatchObject({ usage: 3n, held: 0n })
    })
  )

  it.effect("the AI SDK runs a tool loop to its end, streamed and buffered", () =>
    Effect.gen(function* () {
      const { model } = yield* aiSdk
      const loop = { model, prompt: question, tools, stopWhen: stepCountIs(4) }
      const whole = yield* Effect.promise(() => generateText(loop))
      expect([whole.steps.length, asked.length]).toEqual([2, 1])
      expect(whole.text).toContain(said)
      const streamed = yield* Effect.promise(async () => {
        const stream = streamText(loop)
        return { text: await stream.text, steps: (await stream.steps).length, usage: await stream.totalUsage }
      })
      expect(streamed).toMatchObject({
        text: whole.text,
        steps: 2,
        usage: { totalTokens: whole.totalUsage.totalTokens }
      })
    })
  )

  it.effect("the AI SDK gets objects that match their schema", () =>
    Effect.gen(function* () {
      const { model } = yield* aiSdk
      const output = Output.object({ schema: City })
      const { output: city } = yield* Effect.promise(() => generateText({ model, prompt: "A city", output }))
      expect(City.parse(city)).toEqual(city)
      const streamed = yield* Effect.promise(async () => await streamText({ model, prompt: "A city", output }).output)
      expect(streamed).toEqual(city)
    })
  )

  it.effect("the AI SDK runs a second turn with store: false; without it, the error says what to do", () =>
    Effect.gen(function* () {
      const { model } = yield* aiSdk
      const first = yield* Effect.promise(() => generateText({ model, prompt: "Hello" }))
      const more = { role: "user", content: "say more" } as const
      const messages = [{ role: "user", content: "Hello" } as const, ...first.response.messages, more]
      const providerOptions = { openai: { store: false } }
      const second = yield* Effect.promise(() => generateText({ model, messages, providerOptions }))
      expect(second.text).toBe("more")
      expect(second.usage.inputTokens).toBeGreaterThan(first.usage.inputTokens! + first.usage.outputTokens!)
      const refused = yield* Effect.flip(Effect.tryPromise(() => generateText({ model, messages })))
      expect(refused.cause).toBeInstanceOf(APICallError)
      expect(refused.cause).toMatchObject({ statusCode: 400, message: expect.stringContaining("store: false") })
    })
  )

  const agents = Effect.map(customer(10n * NANO), ({ client, principal }) => {
    setTracingDisabled(true)
    return { runner: new Runner({ modelProvider: new OpenAIProvider({ openAIClient: client }) }), principal }
  })
  const weather = agentTool({
    name: "get_weather",
    description: "Gives the weather",
    parameters: City,
    execute: () => "It is sunny"
  })
  const agent = new Agent({ name: "helper", instructions: "Be brief.", model: "sluice-small", tools: [weather] })

  it.effect("Agents runs a tool loop to its end, streamed and buffered, and a second turn", () =>
    Effect.gen(function* () {
      const { principal, runner } = yield* agents
      const whole = yield* Effect.promise(() => runner.run(agent, question))
      expect(whole.finalOutput).toContain(said)
      expect(whole.rawResponses).toHaveLength(2)
      const streamed = yield* Effect.promise(async () => {
        const stream = await runner.run(agent, question, { stream: true })
        let words = ""
        for await (const event of stream) {
          if (event.type === "raw_model_stream_event" && event.data.type === "output_text_delta")
            words += event.data.delta
        }
        await stream.completed
        return { words, output: stream.finalOutput }
      })
      expect(streamed).toEqual({ words: whole.finalOutput, output: whole.finalOutput })
      const history = [...whole.history, { role: "user" as const, content: "say thanks" }]
      const next = yield* Effect.promise(() => runner.run(agent, history))
      expect(next.finalOutput).toBe("thanks")
      expect(yield* money(principal)).toMatchObject({ usage: 5n, held: 0n })
    })
  )

  it.effect("Agents gets an output that matches its schema", () =>
    Effect.gen(function* () {
      const { runner } = yield* agents
      const typed = new Agent({ name: "typed", instructions: "Be brief.", model: "sluice-small", outputType: City })
      const { finalOutput } = yield* Effect.promise(() => runner.run(typed, "A city"))
      expect(City.parse(finalOutput)).toEqual(finalOutput)
    })
  )
})
