/** Calls and results of a conversation belong together, on POST /chat/completions and POST /responses alike. */
import { describe, expect, it } from "@effect/vitest"
import { decodeChat } from "@sluice/domain/inference/chat/Chat"
import { decodeResponse } from "@sluice/domain/inference/responses/ResponseRequest"
import { Result } from "effect"

const SAID = { user: "hi", system: "be brief", developer: "be kind", assistant: "well" }

/** Each word is a message: a role, `calls:a,b` or `result:a`. */
const chat = (conversation: string) => ({
  model: "m",
  messages: conversation.split(" ").map((word) => {
    const [kind, ids = ""] = word.split(":")
    if (kind === "result") return { role: "tool", tool_call_id: ids, content: "done" }
    if (kind !== "calls") return { role: kind, content: SAID[kind as keyof typeof SAID] }
    const calls = ids.split(",").map((id) => ({ id, type: "function", function: { name: "f", arguments: "{}" } }))
    return { role: "assistant", content: null, tool_calls: calls }
  })
})

/** The same as items: a call is an item of its own. */
const response = (conversation: string) => ({
  model: "m",
  input: conversation.split(" ").flatMap((word): ReadonlyArray<object> => {
    const [kind, ids = ""] = word.split(":")
    if (kind === "result") return [{ type: "function_call_output", call_id: ids, output: "done" }]
    if (kind !== "calls") return [{ role: kind, content: SAID[kind as keyof typeof SAID] }]
    return ids.split(",").map((id) => ({ type: "function_call", call_id: id, name: "f", arguments: "{}" }))
  })
})

const chatFault = (conversation: string) => {
  const result = decodeChat(chat(conversation))
  return Result.isFailure(result) ? result.failure : undefined
}
const responseFault = (conversation: string) => {
  const result = decodeResponse(response(conversation))
  return Result.isFailure(result) ? result.failure : undefined
}

describe("tool calls and results", () => {
  it.each([
    ["user calls:a user", "messages.1", "input.1.call_id"],
    ["user calls:a,b result:a user", "messages.1", "input.2.call_id"],
    ["user calls:a calls:b result:b", "messages.1", undefined],
    ["user calls:a result:a user calls:b,a result:b user result:a", "messages.4", "input.5.call_id"],
    ["user result:a", "messages.1.tool_call_id", "input.1.call_id"],
    ["user result:a calls:a", "messages.1.tool_call_id", "input.1.call_id"],
    ["user calls:a result:b", "messages.2.tool_call_id", "input.2.call_id"],
    ["user calls:a result:a result:a", "messages.3.tool_call_id", "input.3.call_id"],
    ["user calls:a,b result:a result:a", "messages.3.tool_call_id", "input.4.call_id"],
    ["user calls:a result:a user result:a", "messages.4.tool_call_id", "input.4.call_id"],
    ["user calls:a result:a assistant user calls:b result:a", "messages.6.tool_call_id", "input.6.call_id"]
  ])("the conversation '%s' is refused at %s and %s", (conversation, inChat, inResponse) => {
    expect(chatFault(conversation)?.param).toBe(inChat)
    expect(responseFault(conversation)?.param).toBe(inResponse)
  })

  it.each([
    "user calls:a",
    "user calls:a,b result:b",
    "user calls:a result:a",
    "user calls:a,b result:b result:a user",
    "system user calls:a result:a calls:b result:b assistant user",
    "user calls:a result:a user calls:a result:a user",
    "user calls:a result:a calls:a result:a user",
    "user calls:a,a result:a result:a user",
    "user calls:, result: result: user"
  ])("the conversation '%s' is accepted", (conversation) => {
    expect(chatFault(conversation)).toBeUndefined()
    expect(responseFault(conversation)).toBeUndefined()
  })

  it("a refusal says which call has no result, or has two", () => {
    expect(chatFault("user calls:a,b result:a user")?.message).toContain('the tool call "b" has no result')
    expect(chatFault("user calls:a result:a result:a")?.message).toContain('the tool call "a" has its result already')
    expect(responseFault("user calls:a user")?.message).toContain("Invalid value for 'input.1.call_id': the tool call")
    expect(chatFault(`user calls:${"x".repeat(10_000)} user`)?.message.length).toBeLessThan(300)
  })

  it.each(["developer", "system", "assistant"])(
    "an output of a response joins its call across a message of role %s",
    (role) => {
      const conversation = `user calls:a,b ${role} result:a result:b user`
      expect(chatFault(conversation)?.param).toBe("messages.1")
      const result = decodeResponse(response(conversation))
      if (Result.isFailure(result)) throw result.failure
      const { messages } = result.success.chat
      expect(messages.map((message) => message.toolCallId ?? message.role)).toEqual([
        "user",
        "assistant",
        "a",
        "b",
        role,
        "user"
      ])
    }
  )
})
