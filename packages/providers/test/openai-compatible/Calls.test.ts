/** Calls of tools, in the pieces in which servers send them. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { asked } from "./support/Asked.ts"
import { delta, events, says, streams } from "@sluice/testing/upstreams/RecordedServer"

const tools = { tools: [{ type: "function", function: { name: "weather", parameters: { type: "object" } } }] }
const streamed = (text: string, more: object = {}) => asked((_, response) => streams(response, text), more)

describe("calls of tools", () => {
  const call = (more: object) => delta({ tool_calls: [more] })
  const weather = (args: string) => ({ function: { name: "weather", arguments: args } })

  it.live("are put together from the pieces of every kind of server", () =>
    Effect.gen(function* () {
      const done = [delta({}, "tool_calls"), "[DONE]"]
      for (const [name, ...chunks] of [
        [
          "OpenAI, vLLM",
          delta({ role: "assistant", content: null }),
          call({ index: 0, id: "a", type: "function", ...weather("") }),
          call({ index: 0, function: { arguments: '{"city":' } }),
          call({ index: 0, function: { arguments: '"Rome"}' } }),
          ...done
        ],
        ["all at once (llama.cpp)", call({ index: 0, id: "a", ...weather('{"city":"Rome"}') }), ...done],
        ["no index (Ollama)", call({ id: "a", ...weather('{"city":"Rome"}') }), ...done],
        [
          "arguments as an object",
          call({ id: "a", function: { name: "weather", arguments: { city: "Rome" } } }),
          ...done
        ],
        [
          "the id with each piece",
          call({ index: 0, id: "a", ...weather('{"city":') }),
          call({ index: 0, id: "a", ...weather('"Rome"}') }),
          ...done
        ],
        [
          "empty names and ids later",
          call({ index: 0, id: "a", ...weather('{"city":') }),
          call({ index: 0, id: "", function: { name: "", arguments: '"Rome"}' } }),
          ...done
        ],
        [
          "neither index nor id later",
          call({ id: "a", ...weather('{"city":') }),
          call({ function: { arguments: '"Rome"}' } }),
          ...done
        ],
        [
          "the name after the first arguments",
          call({ index: 0, id: "a", function: { arguments: '{"city":' } }),
          call({ index: 0, ...weather('"Rome"}') }),
          ...done
        ],
        ["an object for the list", delta({ tool_calls: { id: "a", ...weather('{"city":"Rome"}') } }), ...done],
        ["the end of a text (Ollama)", call({ id: "a", ...weather('{"city":"Rome"}') }), delta({}, "stop"), "[DONE]"],
        ["no end", call({ id: "a", ...weather('{"city":"Rome"}') }), "[DONE]"],
        [
          "empty pieces",
          call({ id: "a", ...weather('{"city":"Rome"}') }),
          call({}),
          delta({ tool_calls: [null] }),
          ...done
        ]
      ] as const) {
        const answer = yield* streamed(events(...chunks), tools)
        expect([name, answer]).toEqual([
          name,
          {
            reason: undefined,
            words: "",
            refused: "",
            ends: ["tool_calls"],
            usage: [],
            calls: [["a", "weather", '{"city":"Rome"}']]
          }
        ])
      }
    })
  )

  it.live("without an id get one of their own, and empty arguments are made JSON", () =>
    Effect.gen(function* () {
      const text = events(
        call({ function: { name: "weather", arguments: "{}" } }),
        call({ function: { name: "weather", arguments: null } }),
        "[DONE]"
      )
      const [first, second] = [yield* streamed(text, tools), yield* streamed(text, tools)]
      const ids = [...first.calls, ...second.calls].map(([id]) => id)
      expect(new Set(ids).size).toBe(4)
      for (const id of ids) expect(id).toMatch(/^call_\w{10,}$/)
      expect(first.calls.map(([, name, args]) => [name, args])).toEqual([
        ["weather", "{}"],
        ["weather", "{}"]
      ])
    })
  )

  it.live("are kept apart by index, by id, or by their names", () =>
    Effect.gen(function* () {
      const both = [
        ["a", "weather", '{"n":1}'],
        ["b", "time", '{"n":2}']
      ]
      const time = (args: string) => ({ function: { name: "time", arguments: args } })
      for (const [name, ...chunks] of [
        [
          "in turns",
          call({ index: 0, id: "a", ...weather('{"n"') }),
          call({ index: 1, id: "b", ...time('{"n"') }),
          call({ index: 0, function: { arguments: ":1}" } }),
          call({ index: 1, function: { arguments: ":2}" } })
        ],
        [
          "numbers from 1",
          call({ index: 1, id: "a", ...weather('{"n":1}') }),
          call({ index: 2, id: "b", ...time('{"n":2}') })
        ],
        [
          "each the number 0",
          call({ index: 0, id: "a", ...weather('{"n":1}') }),
          call({ index: 0, id: "b", ...time('{"n":2}') })
        ],
        ["ids alone", call({ id: "a", ...weather('{"n":1}') }), call({ id: "b", ...time('{"n":2}') })]
      ] as const) {
        const answer = yield* streamed(events(...chunks, "[DONE]"), tools)
        expect([name, answer.calls]).toEqual([name, both])
      }
    })
  )

  it.live("of a whole answer are as many as it lists, each with an id of its own (LocalAI)", () =>
    Effect.gen(function* () {
      const time = { function: { name: "time", arguments: '{"n":2}' } }
      const told = (tool_calls: unknown) =>
        asked(
          (_, response) =>
            says(response, 200, { choices: [{ message: { content: null, tool_calls }, finish_reason: "tool_calls" }] }),
          { ...tools, stream: false }
        )
      for (const [name, first, second] of [
        ["one number and id", { index: 0, id: "x" }, { index: 0, id: "x" }],
        ["one number", { index: 0, id: "x" }, { index: 0, id: "y" }],
        ["one number, no id", { index: 0 }, { index: 0 }],
        ["one id, no number", { id: "x" }, { id: "x" }],
        ["numbers, and one id", { index: 0, id: "x" }, { index: 1, id: "x" }]
      ] as const) {
        const { calls } = yield* told([
          { ...first, type: "function", ...weather('{"n":1}') },
          { ...second, type: "function", ...time }
        ])
        expect([name, calls.map(([, called, args]) => [called, args])]).toEqual([
          name,
          [
            ["weather", '{"n":1}'],
            ["time", '{"n":2}']
          ]
        ])
        const ids = calls.map(([id]) => id)
        expect([name, ids[0]]).toEqual([name, "id" in first ? "x" : expect.stringMatching(/^call_\w{10,}$/)])
        expect([name, new Set(ids).size]).toEqual([name, 2])
      }
      const same = yield* told([weather("{}"), weather("{}")])
      expect(same.calls.length).toBe(2)
    })
  )

  it.live("of a stream that have one id get ids of their own, and their pieces", () =>
    Effect.gen(function* () {
      const { calls } = yield* streamed(
        events(
          call({ index: 0, id: "x", ...weather('{"n"') }),
          call({ index: 1, id: "x", ...weather('{"n"') }),
          call({ index: 0, id: "x", function: { arguments: ":1}" } }),
          call({ index: 1, id: "x", function: { arguments: ":2}" } }),
          "[DONE]"
        ),
        tools
      )
      expect(calls).toEqual([
        ["x", "weather", '{"n":1}'],
        [expect.stringMatching(/^call_\w{10,}$/), "weather", '{"n":2}']
      ])
    })
  )

  it.live("without a name, or without number, are broken", () =>
    Effect.gen(function* () {
      expect((yield* streamed(events(call({ id: "a", function: { arguments: "{}" } }), "[DONE]"), tools)).reason).toBe(
        "broken"
      )
      const many = events(...Array.from({ length: 200 }, (_, i) => call({ id: `${i}`, ...weather("{}") })), "[DONE]")
      expect((yield* streamed(many, tools)).reason).toBe("broken")
    })
  )
})
