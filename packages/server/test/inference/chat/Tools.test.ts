/** Tools through the stock client: calls match their schemas, streamed and buffered, and whole tool loops end. */
import { expect, layer } from "@effect/vitest"
import { instant } from "@sluice/simulator/models/ModelWorld"
import { Effect, Layer } from "effect"
import type { OpenAI } from "openai"
import { ownPglite } from "@sluice/testing/engines/Databases"
import { money } from "@sluice/testing/fixtures/Workspace"
import { chatServer, simulateModels } from "../support/ChatServer.ts"
import { customer, failure, keys, NANO, user } from "../support/Customer.ts"

const Running = chatServer(keys, simulateModels(instant(7))).pipe(Layer.provideMerge(ownPglite))

const tool = (name: string, parameters: Record<string, unknown>) => ({
  type: "function" as const,
  function: { name, description: `Gives the ${name}`, parameters }
})
const place = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false
}
const weather = tool("get_weather", place)
const time = tool("get_time", { ...place, properties: { ...place.properties, offset: { type: "integer" } } })
const pick = ({ name, arguments: text }: { name: string; arguments: string }) => ({ name, text })
const question = { model: "sluice-small", messages: user("What are the weather and the time in Lisbon?") }

layer(Running, { excludeTestServices: true, timeout: "5 minutes" })("tools through the stock client", (it) => {
  it.effect("are called as the question asks, streamed and buffered, at the same cost", () =>
    Effect.gen(function* () {
      const { client } = yield* customer(NANO)
      const asked = { ...question, tools: [weather, time] }
      const whole = yield* Effect.promise(() => client.chat.completions.create(asked))
      const streamed = yield* Effect.promise(() =>
        client.chat.completions.stream({ ...asked, stream_options: { include_usage: true } }).finalChatCompletion()
      )
      const [choice] = whole.choices
      expect(choice!.finish_reason).toBe("tool_calls")
      expect(choice!.message.content).toBeNull()
      const calls = choice!.message.tool_calls!
      expect(calls.map((call) => call.type === "function" && call.function.name)).toEqual(["get_weather", "get_time"])
      expect(new Set(calls.map(({ id }) => id)).size).toBe(2)
      for (const call of calls) {
        expect(call.type === "function" && JSON.parse(call.function.arguments)).toMatchObject({
          city: expect.any(String)
        })
      }
      const again = streamed.choices[0]!.message.tool_calls!
      expect(
        again.map((call) => ({ id: call.id, type: call.type, ...("function" in call ? pick(call.function) : {}) }))
      ).toEqual(
        calls.map((call) => ({ id: call.id, type: call.type, ...("function" in call ? pick(call.function) : {}) }))
      )
      expect(streamed.usage).toEqual(whole.usage)
      expect(whole.usage!.completion_tokens).toBeGreaterThan(5)
    })
  )

  it.effect("obey tool_choice and parallel_tool_calls", () =>
    Effect.gen(function* () {
      const { client } = yield* customer(NANO)
      const called = (body: object) =>
        Effect.promise(() =>
          client.chat.completions.create({ ...question, tools: [weather, time], ...body } as typeof question)
        ).pipe(
          Effect.map((answer) =>
            (answer.choices[0]!.message.tool_calls ?? []).map((call) => call.type === "function" && call.function.name)
          )
        )
      expect(yield* called({ tool_choice: "none" })).toEqual([])
      expect(yield* called({ parallel_tool_calls: false })).toEqual(["get_weather"])
      expect(yield* called({ tool_choice: { type: "function", function: { name: "get_time" } } })).toEqual(["get_time"])
      expect(yield* called({ messages: user("Hello there") })).toEqual([])
      expect(yield* called({ messages: user("Hello there"), tool_choice: "required" })).toEqual(["get_weather"])
      const some = (mode: string) => ({
        tool_choice: { type: "allowed_tools", allowed_tools: { mode, tools: [time] } }
      })
      expect(yield* called(some("auto"))).toEqual(["get_time"])
      expect(yield* called({ messages: user("Hello there"), ...some("auto") })).toEqual([])
      expect(yield* called({ messages: user("Hello there"), ...some("required") })).toEqual(["get_time"])
    })
  )

  it.effect("reach the last tool of an agent that allows no text between calls", () =>
    Effect.gen(function* () {
      const { client } = yield* customer(NANO)
      type Message = OpenAI.ChatCompletionMessageParam
      const next = (messages: ReadonlyArray<Message>) =>
        Effect.promise(async () => {
          const body = { ...question, messages: [...messages], tools: [weather, time, tool("finish", place)] }
          const answer = await client.chat.completions.create({ ...body, tool_choice: "required" })
          return answer.choices[0]!.message
        })
      const conversation: Array<Message> = user("The weather in Rome, please")
      const turns: Array<ReadonlyArray<string>> = []
      for (let turn = 0; turn < 4; turn++) {
        const message = yield* next(conversation)
        const calls = message.tool_calls!.filter((call) => call.type === "function")
        turns.push(calls.map((call) => call.function.name))
        conversation.push(message)
        for (const { id } of calls) conversation.push({ role: "tool", tool_call_id: id, content: "fine" })
      }
      expect(turns).toEqual([["get_weather"], ["get_time"], ["finish"], ["get_weather"]])
      // A new question starts a new round of calls.
      const again = yield* next([...conversation.slice(0, 5), ...user("And the weather in Oslo?")])
      expect(again.tool_calls).toMatchObject([{ function: { name: "get_weather" } }])
    })
  )

  it.effect("give the final answer after all calls of the question, also when calls come back as text", () =>
    Effect.gen(function* () {
      const { client } = yield* customer(NANO)
      type Message = OpenAI.ChatCompletionMessageParam
      const finish = {
        ...tool("finish", place),
        function: { ...tool("finish", place).function, description: "Final answer" }
      }
      for (const last of [tool("final_answer", place), finish]) {
        const next = (messages: ReadonlyArray<Message>) =>
          Effect.promise(async () => {
            const body = { ...question, messages: [...messages], tools: [last, time, weather] }
            const answer = await client.chat.completions.create({ ...body, tool_choice: "required" })
            return answer.choices[0]!.message
          })
        const turnsOf = (follow: (message: OpenAI.ChatCompletionMessage) => ReadonlyArray<Message>) =>
          Effect.gen(function* () {
            const conversation: Array<Message> = user("Answer me: the weather in Rome, please")
            const turns: Array<ReadonlyArray<string>> = []
            for (const more of ["", "", "And the time in Oslo?"]) {
              if (more !== "") conversation.push(...user(more))
              const message = yield* next(conversation)
              turns.push(message.tool_calls!.map((call) => (call.type === "function" ? call.function.name : "")))
              conversation.push(...follow(message))
            }
            return turns
          })
        const turns = [["get_weather"], [last.function.name], ["get_time"]]
        const asTools = turnsOf((message) => [
          message,
          ...message.tool_calls!.map(({ id }) => ({ role: "tool" as const, tool_call_id: id, content: "fine" }))
        ])
        expect(yield* asTools).toEqual(turns)
        // smolagents writes past calls as Python text, and their results as user messages.
        const asText = turnsOf((message) => {
          const calls = JSON.stringify(message.tool_calls).replaceAll('"', "'")
          return [{ role: "assistant", content: `Calling tools:\n${calls}` }, ...user("Observation:\nfine")]
        })
        expect(yield* asText).toEqual(turns)
      }
    })
  )

  it.effect("run the client's own loop to its end, and charge each turn", () =>
    Effect.gen(function* () {
      const { client, principal } = yield* customer(NANO)
      const ran: Array<string> = []
      const runner = client.chat.completions.runTools({
        ...question,
        tools: [
          {
            type: "function",
            function: {
              name: "get_weather",
              description: "",
              parameters: place,
              parse: JSON.parse,
              function: ({ city }: { city: string }) => {
                ran.push(city)
                return "22 degrees and sunny"
              }
            }
          }
        ]
      })
      expect(yield* Effect.promise(() => runner.finalContent())).toContain("The tool answered: 22 degrees and sunny.")
      expect(ran).toHaveLength(1)
      const { usage } = yield* money(principal)
      expect(usage).toBe(2n)
    })
  )

  it.effect("are cut at max_tokens, and never billed above it", () =>
    Effect.gen(function* () {
      const { client } = yield* customer(NANO)
      const cut = yield* Effect.promise(() =>
        client.chat.completions.create({ ...question, tools: [weather], max_tokens: 4 })
      )
      expect(cut.choices[0]!.finish_reason).toBe("length")
      expect(cut.usage!.completion_tokens).toBeLessThanOrEqual(4)
    })
  )

  it.effect("are refused by name when they are invalid", () =>
    Effect.gen(function* () {
      const { client } = yield* customer(NANO)
      const refused = (body: object) =>
        failure(() => client.chat.completions.create({ ...question, ...body } as typeof question))
      const odd = tool("odd", { properties: { a: { not: {} } }, required: ["a"] })
      const some = (name: string) => ({
        type: "allowed_tools",
        allowed_tools: { mode: "required", tools: [{ type: "function", function: { name } }] }
      })
      for (const [body, param] of [
        [{ tools: [{ type: "function", function: { name: "a b" } }] }, "tools.0.function.name"],
        [{ tools: [{ type: "custom", custom: {} }] }, "tools.0.type"],
        [{ tool_choice: "required" }, "tool_choice"],
        [{ tools: [weather], tool_choice: { type: "function", function: { name: "other" } } }, "tool_choice"],
        [{ tools: [weather], tool_choice: some("other") }, "tool_choice.allowed_tools.tools.0.function.name"],
        [{ tools: [weather, odd], tool_choice: some("odd") }, "tools.1.function.parameters"],
        [{ tools: [odd], tool_choice: "required" }, "tools.0.function.parameters"]
      ] as const) {
        expect(yield* refused(body)).toMatchObject({ status: 400, param })
      }
    })
  )
})
