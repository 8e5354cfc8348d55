/** Tools of responses through the stock client: a loop to its end, choices, namespaces. */
import { expect, layer } from "@effect/vitest"
import { instant } from "@sluice/simulator/models/ModelWorld"
import { Effect, Layer } from "effect"
import type { ResponseInput } from "openai/resources/responses/responses"
import { ownPglite } from "@sluice/testing/engines/Databases"
import { money } from "@sluice/testing/fixtures/Workspace"
import { chatServer, simulateModels } from "../support/ChatServer.ts"
import { customer, functionTool, keys, NANO } from "../support/Customer.ts"

const Running = chatServer(keys, simulateModels(instant(7))).pipe(Layer.provideMerge(ownPglite))

const model = "sluice-small"

layer(Running, { excludeTestServices: true, timeout: "5 minutes" })("tools of responses", (it) => {
  it.effect("run in a loop to its end, streamed and buffered", () =>
    Effect.gen(function* () {
      const { client, principal } = yield* customer(10n * NANO)
      const tools = [functionTool("get_weather"), functionTool("get_time")]
      const input: ResponseInput = [{ role: "user", content: "What are the weather and the time in Lisbon?" }]
      const first = yield* Effect.promise(() => client.responses.create({ model, input, tools }))
      const calls = first.output.filter((item) => item.type === "function_call")
      expect(calls.map(({ name, status }) => [name, status])).toEqual([
        ["get_weather", "completed"],
        ["get_time", "completed"]
      ])
      const streamed = yield* Effect.promise(() => client.responses.stream({ model, input, tools }).finalResponse())
      const plain = ({ arguments: text, call_id, name }: (typeof calls)[number]) => ({ text, call_id, name })
      expect(streamed.output.filter((item) => item.type === "function_call").map(plain)).toEqual(calls.map(plain))
      expect(streamed.usage).toEqual(first.usage)
      input.push(...calls)
      for (const call of calls) {
        expect(call.id).toMatch(/^fc_/)
        expect(JSON.parse(call.arguments)).toMatchObject({ city: expect.any(String) })
        input.push({ type: "function_call_output", call_id: call.call_id, output: `${call.name} says 22` })
      }
      const last = yield* Effect.promise(() => client.responses.create({ model, input, tools }))
      expect(last.output_text).toContain("The tool answered: get_time says 22.")
      expect(last.usage!.input_tokens).toBeGreaterThan(first.usage!.input_tokens)
      expect((yield* money(principal)).usage).toBe(3n)
    })
  )

  it.effect("obey tool_choice, and are called in namespaces by both names", () =>
    Effect.gen(function* () {
      const { client } = yield* customer(10n * NANO)
      const space = { type: "namespace" as const, name: "clock", description: "", tools: [functionTool("get_time")] }
      const tools = [functionTool("get_weather"), space, { type: "web_search" as const }]
      const called = (body: object) =>
        Effect.promise(() =>
          client.responses.create({ model, input: "The weather and the time in Lisbon?", tools, ...body })
        ).pipe(
          Effect.map(({ output }) =>
            output.flatMap((item) => (item.type === "function_call" ? [[item.namespace, item.name]] : []))
          )
        )
      expect(yield* called({})).toEqual([
        [undefined, "get_weather"],
        ["clock", "get_time"]
      ])
      expect(yield* called({ tool_choice: "none" })).toEqual([])
      expect(yield* called({ parallel_tool_calls: false })).toEqual([[undefined, "get_weather"]])
      const named = { type: "function", name: "get_time" }
      expect(yield* called({ tool_choice: named })).toEqual([["clock", "get_time"]])
      for (const one of [named, { ...named, namespace: "clock" }, { ...named, name: "clock__get_time" }]) {
        const allowed = { type: "allowed_tools", mode: "required", tools: [{ type: "web_search" }, one] }
        expect(yield* called({ tool_choice: allowed })).toEqual([["clock", "get_time"]])
      }
    })
  )
})
