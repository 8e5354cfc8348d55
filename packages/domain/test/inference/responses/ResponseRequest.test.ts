/** Bodies of /responses: each becomes its equivalent chat, and a refusal has the path of the caller's own body. */
import { describe, expect, it } from "@effect/vitest"
import { decodeChat } from "@sluice/domain/inference/chat/Chat"
import { promptText } from "@sluice/domain/inference/chat/ChatPrompt"
import { OpenResponseBody } from "@sluice/domain/inference/responses/ResponseBody"
import { decodeResponse, toBodyRefusal } from "@sluice/domain/inference/responses/ResponseRequest"
import { ModelRequestInvalid } from "@sluice/domain/models/InferenceErrors"
import { Effect, Result, Schema } from "effect"
import fc from "fast-check"
import { functionNames, type Turn, turns } from "@sluice/testing/fixtures/Conversations"

const good = { model: "m", input: "hi" }
const refusal = (body: unknown) => {
  const result = decodeResponse(body)
  return Result.isFailure(result) ? result.failure : undefined
}
const accepted = (body: unknown) => {
  const result = decodeResponse(body)
  if (Result.isFailure(result)) throw result.failure
  return result.success
}
const items = (...input: ReadonlyArray<unknown>) => ({ model: "m", input })
const part = (one: unknown) => items({ role: "user", content: [{ type: "input_text", text: "a" }, one] })
const call = { type: "function_call", call_id: "c", name: "f", arguments: "{}" }

describe("decodeResponse", () => {
  it("has the description of its schema in its prompt", () => {
    const format = { type: "json_schema", name: "x", description: "Of a city", schema: { type: "object" } }
    const { chat } = accepted({ ...good, text: { format } })
    expect(chat.responseFormat).toMatchObject({ type: "json_schema", description: "Of a city" })
    expect(promptText(chat)).toBe('hi\nOf a city\n{"type":"object"}')
  })

  it("names the path of an invalid field", () => {
    for (const [body, param] of [
      [null, null],
      [[], null],
      [{}, "model"],
      [{ model: "m" }, "input"],
      [{ ...good, model: 5 }, "model"],
      [{ ...good, input: 5 }, "input"],
      [items(), "input"],
      [{ ...good, reasoning: { effort: 5 } }, "reasoning.effort"],
      [items({ type: "reasoning" }), "input"],
      [items("hi"), "input.0"],
      [items({ role: "user", content: "x" }, { role: "boss", content: "x" }), "input.1.role"],
      [items({ role: "tool", content: "x" }), "input.0.role"],
      [items({ role: "user" }), "input.0.content"],
      [items({ type: "message", role: "user", content: null }), "input.0.content"],
      [part({ type: "input_text", text: 1 }), "input.0.content.1.text"],
      [part({ type: "input_file", file_id: "f" }), "input.0.content.1"],
      [part({ type: "input_image", file_id: "f" }), "input.0.content.1.image_url"],
      [part({ type: "input_image", image_url: "ftp://x/y.png" }), "input.0.content.1.image_url"],
      [items({ ...call, call_id: 5 }), "input.0.call_id"],
      [items({ ...call, arguments: {} }), "input.0.arguments"],
      [items(call, { type: "function_call_output", call_id: "c" }), "input.1.output"],
      [items(call, { type: "function_call_output", call_id: "d", output: "" }), "input.1.call_id"],
      [items({ type: "item_reference", id: "msg_1" }), "input.0"],
      [items({ type: "web_search_call", id: "ws_1" }), "input.0.type"],
      [{ ...good, instructions: 5 }, "instructions"],
      [{ ...good, text: { format: { type: "json_schema", name: "n".repeat(65), schema: {} } } }, "text.format.name"],
      [{ ...good, temperature: "0.7" }, "temperature"],
      [{ ...good, top_p: 1.1 }, "top_p"],
      [{ ...good, max_output_tokens: 1.5 }, "max_output_tokens"],
      [{ ...good, max_output_tokens: 0 }, "max_output_tokens"],
      [{ ...good, stream: "true" }, "stream"],
      [{ ...good, metadata: "x" }, "metadata"],
      [{ ...good, include: ["a", 5] }, "include.1"],
      [{ ...good, truncation: "some" }, "truncation"],
      [{ ...good, parallel_tool_calls: "no" }, "parallel_tool_calls"],
      [{ ...good, tools: [5] }, "tools.0"],
      [{ ...good, tools: [{ name: "f" }] }, "tools.0.type"],
      [{ ...good, tools: [{ type: "web_search" }, { type: "function", name: "a b" }] }, "tools.1.name"],
      [
        {
          ...good,
          tools: [
            { type: "function", name: "f" },
            { type: "function", name: "f" }
          ]
        },
        "tools.1.name"
      ],
      [{ ...good, tools: [{ type: "namespace", name: "n", tools: [{ type: "function" }] }] }, "tools.0.tools.0.name"],
      [
        { ...good, tools: [{ type: "namespace", name: "n".repeat(60), tools: [{ type: "function", name: "long" }] }] },
        "tools.0.tools.0.name"
      ],
      [
        { ...good, tools: Array.from({ length: 257 }, (_, n) => ({ type: "function", name: `f${n}` })) },
        "tools.256.name"
      ],
      [{ ...good, tool_choice: "some" }, "tool_choice"],
      [{ ...good, tool_choice: "required" }, "tool_choice"],
      [{ ...good, tool_choice: "required", tools: [{ type: "web_search" }] }, "tool_choice"],
      [{ ...good, tool_choice: { type: "web_search" } }, "tool_choice"],
      [{ ...good, tool_choice: { type: "function", name: "f" } }, "tool_choice"],
      [
        {
          ...good,
          tools: [{ type: "function", name: "f" }],
          tool_choice: {
            type: "allowed_tools",
            mode: "auto",
            tools: [{ type: "web_search" }, { type: "function", name: "g" }]
          }
        },
        "tool_choice.tools.1.name"
      ],
      [{ ...good, text: { format: { type: "xml" } } }, "text.format.type"],
      [{ ...good, text: { format: { type: "json_schema", name: "x" } } }, "text.format.schema"],
      [{ ...good, previous_response_id: "resp_1" }, "previous_response_id"],
      [{ ...good, conversation: { id: "conv_1" } }, "conversation"],
      [{ ...good, prompt: { id: "pmpt_1" } }, "prompt"],
      [{ ...good, background: true }, "background"],
      [{ ...good, top_logprobs: 2 }, "top_logprobs"]
    ] as const) {
      const refused = refusal(body)
      expect([body, refused?.param]).toEqual([body, param])
      expect(refused!.message).not.toContain("messages.")
    }
  })

  it("treats null as absent, ignores unknown fields, and fills in the defaults of chat", () => {
    const nothing = Object.fromEntries(Object.keys(OpenResponseBody.fields).map((name) => [name, null]))
    const plain = accepted(good)
    expect(accepted({ ...nothing, ...good, client_metadata: 5, max_tool_calls: 3 })).toEqual(plain)
    const chat = decodeChat({ model: "m", messages: [{ role: "user", content: "hi" }] })
    expect(plain.chat).toEqual(Result.getOrThrow(chat))
    expect(accepted({ ...good, store: true, background: false, truncation: "auto" }).echo).toMatchObject({
      store: false,
      truncation: "disabled"
    })
  })

  it("passes the requested effort to the model, and returns it", () => {
    const { chat, echo } = accepted({ ...good, reasoning: { effort: "high", summary: "auto" } })
    expect(chat.reasoningEffort).toBe("high")
    // A value without effect is not returned.
    expect(echo.reasoning).toEqual({ effort: "high", summary: null })
    expect(accepted({ ...good, text: { verbosity: "low" } }).echo.text).toEqual({ format: { type: "text" } })
  })

  it("translates refusals of the engine to the caller's own paths", () => {
    const { paths } = accepted({
      model: "m",
      instructions: "Be brief.",
      input: [
        { type: "reasoning" },
        { role: "user", content: "a" },
        call,
        { ...call, type: "function_call_output", output: "" }
      ],
      tools: [
        { type: "web_search" },
        { type: "namespace", name: "n", tools: [{ type: "custom" }, { type: "function", name: "f" }] }
      ]
    })
    const told = (param: string) => {
      const { message, param: own } = toBodyRefusal(
        paths,
        new ModelRequestInvalid({ message: `Not '${param}'`, param, code: "c" })
      )
      expect(message).toBe(`Not '${own}'`)
      return own
    }
    expect(told("messages")).toBe("input")
    expect(told("messages.0.content")).toBe("instructions")
    expect(told("messages.1.content")).toBe("input.1.content")
    expect(told("messages.1.content.2.image_url.url")).toBe("input.1.content.2.image_url")
    expect(told("messages.3.content")).toBe("input.3.output")
    expect(told("tools.0.function.parameters")).toBe("tools.1.tools.1.parameters")
    expect(told("response_format.json_schema.schema")).toBe("text.format.schema")
    expect(told("model")).toBe("model")
  })
})

const between: Turn = { items: [{ role: "user", content: "." }], messages: [{ role: "user", content: "." }] }
const settings = fc.record(
  {
    temperature: fc.double({ min: 0, max: 2, noNaN: true }),
    top_p: fc.constantFrom(0, 0.5),
    stream: fc.boolean()
  },
  { requiredKeys: [] }
)

describe("a response", () => {
  it("equals the chat of the same conversation, to the letter", () => {
    const property = fc.property(turns, settings, functionNames, (conversation, same, names) => {
      // Calls after an assistant's message are its own: a text between two turns keeps them apart.
      const apart = conversation.flatMap((turn) => [turn, between])
      const tools = names.map((one) => ({ name: one, description: "d", parameters: { type: "object" } }))
      const response = accepted({
        model: "m",
        ...same,
        input: apart.flatMap((turn) => turn.items),
        tools: tools.map((tool) => ({ type: "function", ...tool }))
      })
      const chat = decodeChat({
        model: "m",
        ...same,
        messages: apart.flatMap((turn) => turn.messages),
        tools: tools.map((tool) => ({ type: "function", function: tool }))
      })
      expect(response.chat).toEqual(Result.getOrThrow(chat))
    })
    fc.assert(property)
  })

  const Json = Schema.Union([
    Schema.Null,
    Schema.Boolean,
    Schema.Finite,
    Schema.String,
    Schema.Array(
      Schema.Record(Schema.Literals(["type", "role", "content", "name", "tools", "call_id"]), Schema.Unknown)
    ),
    Schema.Record(Schema.String, Schema.Unknown)
  ])
  it.effect.prop(
    "is accepted or refused, for any body",
    [Schema.Record(Schema.Literals(Object.keys(OpenResponseBody.fields)), Json), Schema.Boolean],
    ([body, repaired]) =>
      Effect.sync(() => {
        const result = decodeResponse(repaired ? { ...body, ...good } : body)
        if (Result.isFailure(result)) expect(result.failure.message.length).toBeLessThanOrEqual(300)
        else expect(result.success.chat.messages.length).toBeGreaterThan(0)
      })
  )
})
