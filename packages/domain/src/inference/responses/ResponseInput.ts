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
  /** The paths of the ids of its calls, or of the call that it answers. */
  readonly ids?: ReadonlyArray<string>
}

const decodeMessage = partDecoder(MessageItem)
const decodeCall = partDecoder(CallItem)
const decodeOutput = partDecoder(CallOutputItem)

/** Returns `input` as messages, in order. */
export const messagesOf = (
  input: string | ReadonlyArray<Item>
): Result.Result<ReadonlyArray<MessageAtPath>, ModelRequestInvalid> => {
  if (typeof input === "string") return Result.succeed([{ path: "input", message: { role: "user", content: input } }])
  const conversation: Conversation = { turns: [], callIds: new Set(), callers: new Map() }
  for (const [index, item] of input.entries()) {
    const added = addItem(conversation, item, `input.${index}`)
    if (Result.isFailure(added)) return Result.fail(added.failure)
  }
  return conversation.turns.length === 0
    ? invalid("input", "Invalid value for 'input': at least one message")
    : Result.succeed(conversation.turns.flatMap(({ outputs, placed }) => [placed, ...outputs]))
}

type ToolCall = NonNullable<MessageBody["tool_calls"]>[number]

/** A message with the outputs of its calls. */
interface Turn {
  readonly placed: MessageAtPath
  readonly calls: Array<ToolCall>
  readonly ids: Array<string>
  readonly outputs: Array<MessageAtPath>
}

interface Conversation {
  readonly turns: Array<Turn>
  /** Ids of the calls so far. */
  readonly callIds: Set<string>
  /** The turns since the last user message, by the ids of their calls. An output joins the last turn that lacks one. */
  readonly callers: Map<string, Array<Turn>>
}

type Item = Readonly<Record<string, unknown>>

const addItem = (conversation: Conversation, item: Item, path: string): Result.Result<void, ModelRequestInvalid> => {
  switch (item.type ?? "message") {
    case "message":
      return Result.map(decodeMessage(item, path), ({ content, role }) => {
        add(conversation, `${path}.content`, { role, content: contentOf(content) })
      })
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
        addOutput(conversation, call_id, {
          path: `${path}.output`,
          message: { role: "tool", tool_call_id: call_id, content: contentOf(output) },
          ids: [`${path}.call_id`]
        })
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

/** Adds a call to the last message if that is an assistant's without outputs; otherwise to a new one. */
const addCall = (conversation: Conversation, path: string, call: ToolCall): void => {
  const last = conversation.turns.at(-1)
  const isOpen = last?.placed.message.role === "assistant" && last.outputs.length === 0
  const turn = isOpen ? last : add(conversation, path, { role: "assistant", content: null })
  conversation.callIds.add(call.id)
  turn.calls.push(call)
  turn.ids.push(`${path}.call_id`)
  const all = conversation.callers.get(call.id)
  if (all === undefined) conversation.callers.set(call.id, [turn])
  else all.push(turn)
}

/** An output without a call since the last user message stands alone, one too many stands with the first call: both are refused. */
const addOutput = ({ callers, turns }: Conversation, id: string, output: MessageAtPath): void => {
  const all = callers.get(id)
  const turn = all !== undefined && all.length > 1 ? all.pop() : all?.[0]
  if (turn === undefined) turns.push({ placed: output, calls: [], ids: [], outputs: [] })
  else turn.outputs.push(output)
}

const add = (conversation: Conversation, path: string, message: MessageBody): Turn => {
  const calls: Array<ToolCall> = []
  const ids: Array<string> = []
  const placed = { path, message: message.role === "assistant" ? { ...message, tool_calls: calls } : message, ids }
  const turn: Turn = { placed, calls, ids, outputs: [] }
  conversation.turns.push(turn)
  if (message.role === "user") conversation.callers.clear()
  return turn
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
