/** Billed tokens of a chat's prompt: every text that the model reads, and a fixed number for parts without text. */
import { describe, expect, it } from "@effect/vitest"
import { decodeChat } from "@sluice/domain/inference/chat/Chat"
import { promptOverhead, promptText } from "@sluice/domain/inference/chat/ChatPrompt"
import { sumOf } from "@sluice/domain/models/Tokens"
import { Result } from "effect"

const asked = (body: object) => Result.getOrThrow(decodeChat({ model: "m", ...body }))
const picture = (detail: string) => ({
  type: "image_url",
  image_url: { url: "data:image/png;base64,iVBORw0KGgo=", detail }
})

describe("The prompt of a chat", () => {
  it("has every text that its model reads", () => {
    const call = { id: "c", type: "function", function: { name: "called", arguments: '{"a":"arguing"}' } }
    const request = asked({
      messages: [
        { role: "system", content: "ruling" },
        { role: "user", name: "naming", content: [{ type: "text", text: "partial" }, picture("low")] },
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", tool_call_id: "c", content: "outcome" }
      ],
      tools: [
        {
          type: "function",
          function: { name: "tooling", description: "describing", parameters: { type: "object", title: "parametric" } }
        }
      ],
      response_format: {
        type: "json_schema",
        json_schema: { name: "answer", description: "purpose", schema: { type: "object", title: "schematic" } }
      }
    })
    const text = promptText(request)
    const words = "ruling naming partial called arguing outcome tooling describing parametric purpose schematic"
    for (const word of words.split(" ")) {
      expect([word, text.split(word).length - 1]).toEqual([word, 1])
    }
  })

  it("has tokens for each message, for the answer's beginning, and for each image by its detail", () => {
    const user = (...content: ReadonlyArray<unknown>) => ({ role: "user", content })
    for (const [messages, tokens] of [
      [[user({ type: "text", text: "a" })], 7],
      [[user({ type: "text", text: "a" }), user({ type: "text", text: "b" })], 11],
      [[user(picture("low"))], 7 + 85],
      [[user(picture("high"), picture("auto"))], 7 + 2 * 765]
    ] as const) {
      expect(promptOverhead(asked({ messages }))).toBe(tokens)
    }
  })
})

it("each of several choices is billed up to its limit", () => {
  expect(sumOf(["", "ab", "abcd"], (text) => text.length, 3)).toBe(5)
})
