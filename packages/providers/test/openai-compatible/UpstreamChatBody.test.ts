/** What an upstream is sent of a question: all that it must see, and nothing that it need not know. */
import { describe, expect, it } from "@effect/vitest"
import { upstreamChatBody } from "@sluice/providers/openai-compatible/calls/UpstreamChatBody"
import { question } from "@sluice/testing/upstreams/UpstreamWorld"

const plain = { model: "org/model", maxTokensField: "max_tokens" as const, omit: new Set<never>() }
const sent = (more: object = {}, dialect: Partial<Parameters<typeof upstreamChatBody>[1]> = {}) =>
  JSON.parse(upstreamChatBody(question(more), { ...plain, ...dialect }))

const PIXEL = "data:image/png;base64,iVBORw0KGgo="

describe("chatBody", () => {
  it("says of a plain question no more than it must", () => {
    expect(sent({ stream: false })).toEqual({
      model: "org/model",
      messages: [{ role: "user", content: "Hi" }],
      max_tokens: 50,
      temperature: 0.7,
      stream: false
    })
    expect(sent().stream_options).toEqual({ include_usage: true })
  })

  it("passes on everything that forms the answer", () => {
    const tool = { name: "weather", description: "of a city", parameters: { type: "object" }, strict: true }
    const schema = { type: "object", properties: { a: { type: "number" } } }
    expect(
      sent({
        temperature: 0,
        top_p: 0.5,
        stop: ["END", "FIN"],
        frequency_penalty: 1,
        presence_penalty: -1,
        n: 3,
        seed: 7,
        max_tokens: null,
        max_completion_tokens: 9,
        tools: [{ type: "function", function: tool }],
        tool_choice: { type: "function", function: { name: "weather" } },
        parallel_tool_calls: false,
        response_format: {
          type: "json_schema",
          json_schema: { name: "a", description: "Of a city", schema, strict: true }
        },
        reasoning_effort: "low",
        logprobs: true,
        top_logprobs: 2
      })
    ).toEqual({
      model: "org/model",
      messages: [{ role: "user", content: "Hi" }],
      max_tokens: 9,
      temperature: 0,
      top_p: 0.5,
      stop: ["END", "FIN"],
      frequency_penalty: 1,
      presence_penalty: -1,
      n: 3,
      seed: 7,
      stream: true,
      stream_options: { include_usage: true },
      tools: [{ type: "function", function: tool }],
      tool_choice: { type: "function", function: { name: "weather" } },
      parallel_tool_calls: false,
      response_format: {
        type: "json_schema",
        json_schema: { name: "a", description: "Of a city", schema, strict: true }
      },
      reasoning_effort: "low",
      logprobs: true,
      top_logprobs: 2
    })
    expect(sent({ tools: [{ type: "function", function: tool }], tool_choice: "required" }).tool_choice).toBe(
      "required"
    )
    expect(sent({ tools: [{ type: "function", function: tool }], tool_choice: "none" }).tool_choice).toBe("none")
    expect(sent({ tool_choice: "none" })).not.toHaveProperty("tool_choice")
    expect(sent({ response_format: { type: "json_object" } }).response_format).toEqual({ type: "json_object" })
    expect(sent({ response_format: { type: "json_object", schema } }).response_format).toEqual({
      type: "json_schema",
      json_schema: { name: "answer", schema, strict: false }
    })
  })

  it("gives a conversation as it was, with images in their place and calls with their answers", () => {
    const call = { id: "c1", type: "function", function: { name: "weather", arguments: '{"city":"Rome"}' } }
    const messages = [
      { role: "developer", content: "Be brief" },
      {
        role: "user",
        name: "ann",
        content: [
          { type: "text", text: "this" },
          { type: "image_url", image_url: { url: PIXEL } },
          { type: "text", text: "or this" },
          { type: "image_url", image_url: { url: PIXEL, detail: "high" } }
        ]
      },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "c1", content: "rain" },
      { role: "assistant", content: "Rain.", tool_calls: [call] },
      { role: "tool", tool_call_id: "c1", content: "sun" },
      {
        role: "user",
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" }
        ]
      }
    ]
    expect(sent({ messages }).messages).toEqual([
      { role: "system", content: "Be brief" },
      messages[1],
      messages[2],
      messages[3],
      messages[4],
      messages[5],
      { role: "user", content: "a\nb" }
    ])
  })

  it("keeps the caller's own affairs to itself", () => {
    const body = sent({ user: "ann@example.com", metadata: { invoice: "7" }, store: true, unknown: 1 })
    expect(Object.keys(body).sort()).toEqual([
      "max_tokens",
      "messages",
      "model",
      "stream",
      "stream_options",
      "temperature"
    ])
  })

  it("leaves out what a server refuses, and uses its word for the limit", () => {
    const body = sent({ seed: 1 }, { maxTokensField: "max_completion_tokens", omit: new Set(["temperature", "seed"]) })
    expect(body).toMatchObject({ max_completion_tokens: 50 })
    for (const field of ["temperature", "seed", "max_tokens"]) expect(body).not.toHaveProperty(field)
    const call = { id: "a", type: "function", function: { name: "f", arguments: "{}" } }
    const signed = [{ ...call, extra_content: { google: { thought_signature: "s" } } }]
    const messages = [
      { role: "assistant", tool_calls: signed },
      { role: "tool", tool_call_id: "a", content: "42" }
    ]
    expect(sent({ messages }).messages[0].tool_calls).toEqual(signed)
    const refused = sent({ messages }, { omit: new Set(["extra_content"]) })
    expect(refused.messages[0].tool_calls).toEqual([call])
  })
})
