/** The chat request table: invalid fields are refused with their path, and the habits of stock clients are accepted. */
import { describe, expect, it } from "@effect/vitest"
import { decodeChat } from "@sluice/domain/inference/chat/Chat"
import { ChatBody } from "@sluice/domain/inference/chat/ChatBody"
import { promptText } from "@sluice/domain/inference/chat/ChatPrompt"
import { tokenCost } from "@sluice/domain/models/TokenCost"
import { Effect, Result, Schema } from "effect"

const messages = [{ role: "user", content: "hi" }]
const good = { model: "m", messages }
const withImage = (url: string) => ({
  model: "m",
  messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }]
})
const PNG = "data:image/png;base64,iVBORw0KGgo="
const named = (name: string) => ({
  ...good,
  response_format: { type: "json_schema", json_schema: { name, schema: {} } }
})
const refusal = (body: unknown) => {
  const result = decodeChat(body)
  return Result.isFailure(result) ? result.failure : undefined
}
const accepted = (body: unknown) => {
  const result = decodeChat(body)
  if (Result.isFailure(result)) throw result.failure
  return result.success
}

describe("decodeChat", () => {
  it("keeps extra fields of a call beside the prompt, where they are an object that can be carried", () => {
    const call = { id: "a", type: "function", function: { name: "f", arguments: "{}" } }
    const asking = (extra: object) =>
      accepted({ ...good, messages: [...messages, { role: "assistant", tool_calls: [call, { ...call, ...extra }] }] })
    const plain = asking({})
    expect(plain.messages[1]).toMatchObject({ toolCalls: JSON.stringify([call, call]) })
    const signed = { google: { thought_signature: "x" } }
    const told = asking({ extra_content: signed })
    expect(told.messages[1]).toEqual({ ...plain.messages[1], callExtras: [undefined, signed] })
    expect(promptText(told)).toBe(promptText(plain))
    for (const extra of ["x", 5, null, [], { a: "x".repeat(16_384) }]) {
      expect(asking({ extra_content: extra })).toEqual(plain)
    }
  })

  it("names the path of an invalid field", () => {
    for (const [body, param] of [
      [null, null],
      [[], null],
      ["text", null],
      [{}, "model"],
      [{ model: 5, messages }, "model"],
      [{ model: "", messages }, "model"],
      [{ model: "m" }, "messages"],
      [{ model: "m", messages: "hi" }, "messages"],
      [{ model: "m", messages: [] }, "messages"],
      [{ model: "m", messages: [...messages, "hi"] }, "messages.1"],
      [{ model: "m", messages: [{ role: "boss", content: "" }] }, "messages.0.role"],
      [{ model: "m", messages: [{ role: "user" }] }, "messages.0.content"],
      [{ model: "m", messages: [{ role: "user", content: null }] }, "messages.0.content"],
      [{ model: "m", messages: [{ role: "assistant", content: null }] }, "messages.0.content"],
      [{ model: "m", messages: [{ role: "user", content: [{ type: "text", text: 1 }] }] }, "messages.0.content.0.text"],
      [{ model: "m", messages: [{ role: "user", content: "x", name: 1 }] }, "messages.0.name"],
      [{ model: "m", messages: [...messages, { role: "tool", content: "x" }] }, "messages.1.tool_call_id"],
      ...[
        "ftp://a/b.png",
        "data:text/html;base64,AA",
        "data:image/png,AA",
        "//a/b.png",
        "",
        "data:image/png;base64,AAAA"
      ].map((url) => [withImage(url), "messages.0.content.0.image_url.url"] as const),
      [{ ...good, temperature: "0.7" }, "temperature"],
      [{ ...good, temperature: true }, "temperature"],
      [{ ...good, temperature: 2.01 }, "temperature"],
      [{ ...good, top_p: -0.1 }, "top_p"],
      [{ ...good, frequency_penalty: 2.1 }, "frequency_penalty"],
      [{ ...good, presence_penalty: "0" }, "presence_penalty"],
      [{ ...good, max_tokens: 1.5 }, "max_tokens"],
      [{ ...good, max_tokens: 0 }, "max_tokens"],
      [{ ...good, max_completion_tokens: -1 }, "max_completion_tokens"],
      [{ ...good, n: 0 }, "n"],
      [{ ...good, n: 2 ** 31 }, "n"],
      [{ ...good, seed: 0.5 }, "seed"],
      [{ ...good, stop: 5 }, "stop"],
      [{ ...good, stop: ["a", 5] }, "stop.1"],
      [{ ...good, stop: ["a", "b", "c", "d", "e"] }, "stop"],
      [{ ...good, stream: "true" }, "stream"],
      [{ ...good, stream_options: { include_usage: 1 } }, "stream_options.include_usage"],
      [{ ...good, tools: "all" }, "tools"],
      [{ ...good, tools: [1] }, "tools.0"],
      [{ ...good, tool_choice: "some" }, "tool_choice"],
      [{ ...good, modalities: ["text", "audio"] }, "modalities"],
      [{ ...good, functions: [{ name: "f", parameters: {} }] }, "functions"],
      [{ ...good, response_format: "json" }, "response_format"],
      [{ ...good, response_format: { type: "xml" } }, "response_format.type"],
      [{ ...good, response_format: { type: "json_object", schema: "x" } }, "response_format.schema"],
      [{ ...good, response_format: { type: "json_object", value: [] } }, "response_format.value"],
      [{ ...good, response_format: { type: "json_schema" } }, "response_format.json_schema.schema"],
      [named("n".repeat(65)), "response_format.json_schema.name"]
    ] as const) {
      expect([body, refusal(body)?.param]).toEqual([body, param])
    }
  })

  it("passes the model only the tools that it may call", () => {
    const tools = ["a", "b", "c"].map((name) => ({ type: "function", function: { name } }))
    const some = (mode: string, ...names: ReadonlyArray<string>) => ({
      ...good,
      tools,
      tool_choice: {
        type: "allowed_tools",
        allowed_tools: { mode, tools: names.map((name) => ({ type: "function", function: { name } })) }
      }
    })
    for (const mode of ["auto", "required"]) {
      const { toolChoice, toolIndexes, tools: shown } = accepted(some(mode, "c", "a"))
      expect([toolChoice, toolIndexes, shown.map(({ name }) => name)]).toEqual([mode, [0, 2], ["a", "c"]])
      expect(refusal(some(mode, "a", "d"))).toMatchObject({
        param: "tool_choice.allowed_tools.tools.1.function.name",
        message: expect.stringContaining('none of the tools is called "d"')
      })
    }
    expect(accepted(some("auto")).tools).toEqual([])
    expect(refusal(some("required"))?.param).toBe("tool_choice")
    expect(refusal(some("none", "a"))?.param).toBe("tool_choice.allowed_tools.mode")
  })

  it("accepts a forced tool also without its type", () => {
    const tools = [{ type: "function", function: { name: "f" } }]
    const choosing = (tool_choice: unknown) => ({ ...good, tools, tool_choice })
    for (const type of [{}, { type: null }, { type: "function" }]) {
      expect(accepted(choosing({ ...type, function: { name: "f" } })).toolChoice).toEqual({ named: "f" })
    }
    expect(refusal(choosing({ function: { name: "g" } }))?.message).toContain('none of the tools is called "g"')
    expect(refusal(choosing({ function: {} }))?.param).toBe("tool_choice.function.name")
    expect(refusal(choosing({ type: "any", function: { name: "f" } }))?.param).toBe("tool_choice")
    expect(refusal(choosing({}))?.param).toBe("tool_choice")
  })

  it("accepts a schema name of the same length as OpenAI does", () => {
    expect(accepted(named("n".repeat(64))).responseFormat).toMatchObject({ name: "n".repeat(64) })
  })

  it("leaves links to the fetcher", () => {
    for (const url of ["http://a/b.png", "HTTPS://a/b.png", PNG, "DATA:image/x-y+z;BASE64,iVBORw0KGgo="]) {
      expect(accepted(withImage(url)).messages[0]?.images).toEqual([{ url, detail: "auto" }])
    }
  })

  it("accepts an assistant's refusal without content as its text", () => {
    const said = (message: object) =>
      decodeChat({ ...good, messages: [...messages, { role: "assistant", ...message }] })
    const textOf = (message: object) => Result.getOrThrow(said(message)).messages.at(-1)?.text
    expect(textOf({ content: null, refusal: "I cannot." })).toBe("I cannot.")
    expect(textOf({ refusal: "I cannot." })).toBe("I cannot.")
    expect(textOf({ content: "", refusal: "I cannot." })).toBe("I cannot.")
    expect(textOf({ content: "Yes.", refusal: null })).toBe("Yes.")
    for (const refused of [said({ content: null, refusal: "" }), said({ content: null, refusal: null })]) {
      expect(Result.isFailure(refused) && refused.failure.param).toBe(`messages.${messages.length}.content`)
    }
  })

  it("accepts a schema beside json_object as a schema", () => {
    const schema = { type: "object", properties: { city: { type: "string" } } }
    const formatOf = (format: object) =>
      accepted({ ...good, response_format: { type: "json_object", ...format } }).responseFormat
    const kept = { type: "json_schema", schema, name: undefined, strict: false }
    expect(formatOf({ schema })).toEqual(kept)
    expect(formatOf({ value: schema })).toEqual(kept)
    expect(formatOf({ schema, strict: true })).toEqual({ ...kept, strict: true })
    expect(formatOf({ schema: null, value: null, strict: true })).toEqual({ type: "json_object" })
  })

  it("treats null as absent, ignores unknown fields, and fills in the defaults", () => {
    const nothing = Object.fromEntries(Object.keys(ChatBody.fields).map((name) => [name, null]))
    const plain = accepted(good)
    expect(accepted({ ...nothing, ...good, prompt_cache_key: "x", service_tier: 5 })).toEqual(plain)
    expect(plain).toMatchObject({
      temperature: 0.7,
      topP: 1,
      stream: false,
      choices: 1,
      stop: [],
      maxTokens: undefined,
      toolChoice: "auto"
    })
    expect(accepted({ ...good, stop: "x" }).stop).toEqual(["x"])
    expect(accepted({ ...good, stop: ["", "y"] }).stop).toEqual(["y"])
    expect(accepted({ ...good, max_tokens: 1e308 }).maxTokens).toBe(1e308)
  })

  it("refuses bodies that are slow to check: deeply nested, or with very many values", () => {
    const deep = JSON.parse(`${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`) as object
    expect(refusal({ ...good, tools: [deep] })?.message).toContain("deeper than 64")
    expect(refusal({ ...good, unknown: deep })?.message).toContain("deeper than 64")
    expect(refusal({ ...good, stop: Array.from({ length: 200_000 }, () => "x") })?.message).toContain("100000 values")
    expect(accepted({ ...good, messages: Array.from({ length: 5_000 }, () => messages[0]) }).messages).toHaveLength(
      5_000
    )
  })

  const Json = Schema.Union([
    Schema.Null,
    Schema.Boolean,
    Schema.Finite,
    Schema.String,
    Schema.Array(Schema.Unknown),
    Schema.Record(Schema.String, Schema.Unknown)
  ])
  it.effect.prop(
    "returns a request or a refusal for any body",
    [Schema.Record(Schema.Literals(Object.keys(ChatBody.fields)), Json), Schema.Boolean],
    ([body, repaired]) =>
      Effect.sync(() => {
        const result = decodeChat(repaired ? { ...body, ...good } : body)
        if (Result.isSuccess(result)) expect(typeof promptText(result.success)).toBe("string")
        else expect(result.failure.message.length).toBeLessThanOrEqual(300)
      })
  )
})

describe("tokenCost", () => {
  const count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2_147_483_647 }))
  it.effect.prop(
    "is exact, rounded up, and never less for more",
    [count, count, count, count],
    ([prompt, completion, p, c]) =>
      Effect.sync(() => {
        const price = { promptPrice: BigInt(p), completionPrice: BigInt(c) }
        const cost = tokenCost(price, prompt, completion)
        const exact = BigInt(prompt) * BigInt(p) + BigInt(completion) * BigInt(c)
        expect(cost * 1_000_000n >= exact && (cost - 1n) * 1_000_000n < exact).toBe(true)
        expect(tokenCost(price, prompt, completion + 1) >= cost).toBe(true)
      })
  )
})
