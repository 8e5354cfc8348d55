/** Suites of OpenAI's Agents: through `/responses`, their default, and through chat after `setOpenAIAPI`. Tracing is off. */
import {
  Agent,
  type AgentInputItem,
  ModelBehaviorError,
  OpenAIProvider,
  Runner,
  setOpenAIAPI,
  setTracingDisabled,
  tool as agentTool
} from "@openai/agents"
import { expect } from "vitest"
import { clientOf, readApiError } from "./OpenAiChats.ts"
import { BREAKS, type Host, MODEL, SEEING, SLOW } from "./support/Host.ts"
import {
  City,
  failure,
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

type Api = "chat_completions" | "responses"

/** The API form is a setting of the process, read when a run begins, so these tests run one after the other. */
const runnerOf = (api: Api, who: Who, maxRetries = 0) => {
  setTracingDisabled(true)
  setOpenAIAPI(api)
  return new Runner({ modelProvider: new OpenAIProvider({ openAIClient: clientOf(who, maxRetries) }) })
}

const agent = (model = MODEL) => new Agent({ name: "helper", instructions: "Be brief.", model })

/** The text and the error of a stream that its model breaks off. The text is charged. */
const breakOff = async (api: Api, host: Host) => {
  const who = await host.customer()
  let words = ""
  const error = await failure(async () => {
    const stream = await runnerOf(api, who).run(agent(BREAKS), RIVERS, { stream: true })
    for await (const word of stream.toTextStream()) words += word
    await stream.completed
  })
  expect((await who.settled(1)).cost).toBeGreaterThan(0)
  return { error, words }
}

const suite = (api: Api) => {
  const weatherAgent = (ran: Array<string>) => {
    const weather = agentTool({
      name: "get_weather",
      description: "Gives the weather",
      parameters: Place,
      execute: ({ city }) => {
        ran.push(city)
        return SUNNY
      }
    })
    return new Agent({ name: "helper", instructions: "Be brief.", model: MODEL, tools: [weather] })
  }
  const typed = new Agent({ name: "typed", instructions: "Be brief.", model: MODEL, outputType: City })
  return {
    text: async (host: Host) => {
      const who = await host.customer()
      expect((await runnerOf(api, who).run(agent(), RIVERS)).finalOutput).toContain("rivers")
      expect((await who.bill()).requests).toBe(1)
    },
    stream: async (host: Host) => {
      const runner = runnerOf(api, await host.customer())
      const stream = await runner.run(agent(), RIVERS, { stream: true })
      const words: Array<string> = []
      for await (const word of stream.toTextStream()) words.push(word)
      await stream.completed
      expect(words.length).toBeGreaterThan(5)
      expect(words.join("")).toBe(stream.finalOutput)
      expect(stream.finalOutput).toBe((await runner.run(agent(), RIVERS)).finalOutput)
    },
    usage: async (host: Host) => {
      const who = await host.customer()
      const runner = runnerOf(api, who)
      const { inputTokens, outputTokens } = (await runner.run(agent(), RIVERS)).runContext.usage
      const bill = await who.bill()
      expect(bill).toMatchObject({ promptTokens: inputTokens, completionTokens: outputTokens })
      expect(bill.cost).toBeGreaterThan(0)
      const stream = await runner.run(agent(), RIVERS, { stream: true })
      await stream.completed
      expect(stream.runContext.usage).toMatchObject({ inputTokens, outputTokens })
    },
    cut: async (host: Host) => {
      const runner = runnerOf(api, await host.customer())
      const brief = new Agent({ name: "helper", model: MODEL, modelSettings: { maxTokens: 5 } })
      expect((await runner.run(brief, RIVERS)).runContext.usage.outputTokens).toBe(5)
    },
    turns: async (host: Host) => {
      const runner = runnerOf(api, await host.customer())
      const first = await runner.run(agent(), RIVERS)
      const more: AgentInputItem = { role: "user", content: "say more" }
      const second = await runner.run(agent(), [...first.history, more])
      expect(second.finalOutput).toBe("more")
      expect(second.runContext.usage.inputTokens).toBeGreaterThan(first.runContext.usage.totalTokens)
    },
    picture: async (host: Host) => {
      const runner = runnerOf(api, await host.customer())
      const look: AgentInputItem = {
        role: "user",
        content: [
          { type: "input_text", text: "Look" },
          { type: "input_image", image: `data:image/png;base64,${PIXEL}` }
        ]
      }
      expect((await runner.run(agent(SEEING), [look])).finalOutput).toContain("one image")
    },
    tools: async (host: Host) => {
      const who = await host.customer()
      const ran: Array<string> = []
      expect((await runnerOf(api, who).run(weatherAgent(ran), WEATHER)).finalOutput).toContain(TOOL_SAID)
      expect(ran).toHaveLength(1)
      expect((await who.bill()).requests).toBe(2)
    },
    toolsStreamed: async (host: Host) => {
      const who = await host.customer()
      const ran: Array<string> = []
      const stream = await runnerOf(api, who).run(weatherAgent(ran), WEATHER, { stream: true })
      await stream.completed
      expect(stream.finalOutput).toContain(TOOL_SAID)
      expect(ran).toHaveLength(1)
      expect((await who.bill()).requests).toBe(2)
    },
    object: async (host: Host) => {
      const { finalOutput } = await runnerOf(api, await host.customer()).run(typed, "A city")
      expect(City.parse(finalOutput)).toEqual(finalOutput)
    },
    objectStreamed: async (host: Host) => {
      const stream = await runnerOf(api, await host.customer()).run(typed, "A city", { stream: true })
      await stream.completed
      expect(City.parse(stream.finalOutput)).toEqual(stream.finalOutput)
    },
    abort: async (host: Host) => {
      const who = await host.customer()
      const stop = new AbortController()
      const stream = await runnerOf(api, who).run(agent(SLOW), RIVERS, { stream: true, signal: stop.signal })
      let words = 0
      for await (const _ of stream.toTextStream()) if (++words === 3) stop.abort()
      const { completionTokens } = await who.settled(1)
      expect(completionTokens).toBeGreaterThanOrEqual(3)
      expect(completionTokens).toBeLessThan(60)
    },
    broken: async (host: Host) => {
      const { error, words } = await breakOff(api, host)
      expect(words).not.toBe("")
      expect(String(error)).toContain("its answer was incomplete")
    },
    retried: retried(async (who, model, prompt) => (await runnerOf(api, who, 1).run(agent(model), prompt)).finalOutput),
    ...refusals({
      ask: (who, model, wrong) => {
        const settings = wrong ? { modelSettings: { temperature: 3 } } : {}
        return runnerOf(api, who).run(new Agent({ name: "helper", model, ...settings }), "Hello")
      },
      read: readApiError
    })
  } as const
}

export const agentsChat: Suite<"agents"> = suite("chat_completions")
export const agentsResponses: Suite<"agentsResponses"> = {
  ...suite("responses"),
  cut: async (host) => {
    const who = await host.customer()
    const brief = new Agent({ name: "helper", model: MODEL, modelSettings: { maxTokens: 5 } })
    const error = await failure(() => runnerOf("responses", who).run(brief, RIVERS))
    expect(error).toBeInstanceOf(ModelBehaviorError)
    expect(String(error)).toContain("response.incomplete")
    expect((await who.bill()).completionTokens).toBe(5)
  }
}
