/**
 * Turns the items of a conversation into messages of a chat. The text and the calls of a model in one turn are one
 * message; the output of a call is a message of a tool. An output of a call that is not in the conversation is refused:
 * this service stores nothing between requests, so the caller sends the whole conversation.
 */
import { Result } from "effect"
import { invalid, partDecoder } from "../../models/BodyCheck.ts"
import type { MessageBody } from "../chat/ChatBody.ts"
import type { ModelRequestInvalid } from "../../models/InferenceErrors.ts"
import { CallItem, CallOutputItem, type Content, MessageItem } from "./ResponseBody.ts"
import { qualifiedName } from "./ResponseTools.ts"

/** A message, with the path of its content in the body. */
export interface MessageAtPath {
  readonly path: string
  readonly message: MessageBody
}

const decodeMessage = partDecoder(MessageItem)
const decodeCall = partDecoder(CallItem)
const decodeOutput = partDecoder(CallOutputItem)

/** Returns `input` as messages, in order. */
export const messagesOf = (
  input: string | ReadonlyArray<Item>
): Result.Result<ReadonlyArray<MessageAtPath>, ModelRequestInvalid> => {
  if (typeof input === "string") return Result.succeed([{ path: "input", message: { role: "user", content: input } }])
  const conversation: Conversation = { messages: [], callIds: new Set(), calls: undefined }
  for (const [index, item] of input.entries()) {
    const added = addItem(conversation, item, `input.${index}`)
    if (Result.isFailure(added)) return Result.fail(added.failure)
  }
  return conversation.messages.length === 0
    ? invalid("input", "Invalid value for 'input': at least one message")
    : Result.succeed(conversation.messages)
}

type ToolCall = NonNullable<MessageBody["tool_calls"]>[number]

interface Conversation {
  readonly messages: Array<MessageAtPath>
  /** Ids of the calls so far. */
  readonly callIds: Set<string>
  /** The calls of the last message, if it is an assistant's; undefined otherwise. */
  calls: Array<ToolCall> | undefined
}

type Item = Readonly<Record<string, unknown>>

const addItem = (conversation: Conversation, item: Item, path: string): Result.Result<void, ModelRequestInvalid> => {
  switch (item.type ?? "message") {
    case "message":
      return Result.map(decodeMessage(item, path), ({ content, role }) =>
        add(conversation, `${path}.content`, { role, content: contentOf(content) })
      )
    case "function_call":
      return Result.map(decodeCall(item, path), (call) =>
        addCall(conversation, path, {
          id: call.call_id,
          type: "function",
          function: { name: qualifiedName(call.name, call.namespace ?? undefined), arguments: call.arguments }
        })
      )
    case "function_call_output":
      return Result.flatMap(decodeOutput(item, path), ({ call_id, output }) => {
        if (!conversation.callIds.has(call_id)) return orphanOutput(`${path}.call_id`)
        add(conversation, `${path}.output`, { role: "tool", tool_call_id: call_id, content: contentOf(output) })
        return Result.succeed(undefined)
      })
    case "reasoning":
      return Result.succeed(undefined)
    case "item_reference":
      return invalid(
        path,
        `Invalid value for '${path}': items are not stored here, so send the item itself (with store: false, clients do)`
      )
    default:
      return invalid(
        `${path}.type`,
        `Invalid value for '${path}.type': message, function_call, function_call_output or reasoning`
      )
  }
}

const orphanOutput = (param: string) =>
  invalid(
    param,
    `Invalid value for '${param}': no function_call before it has this call_id; send the whole conversation, nothing is stored here`
  )

/** Adds a call to the last message if that is an assistant's; otherwise to a new one. */
const addCall = (conversation: Conversation, path: string, call: ToolCall): void => {
  if (conversation.calls === undefined) add(conversation, path, { role: "assistant", content: null })
  conversation.callIds.add(call.id)
  conversation.calls?.push(call)
}

const add = (conversation: Conversation, path: string, message: MessageBody): void => {
  conversation.calls = message.role === "assistant" ? [] : undefined
  conversation.messages.push({
    path,
    message: conversation.calls === undefined ? message : { ...message, tool_calls: conversation.calls }
  })
}

const contentOf = (content: Content): NonNullable<MessageBody["content"]> =>
  typeof content === "string"
    ? content
    : content.map((part) => {
        if (part.type === "refusal") return part
        if (part.type !== "input_image") return { type: "text", text: part.text }
        const detail = part.detail === "original" ? "high" : (part.detail ?? null)
        return { type: "image_url", image_url: { url: part.image_url, detail } }
      })
