/**
 * Answers of POST /responses on the wire: OpenAI's Response object, as schemas for the OpenAPI document and clients,
 * and the text that the server sends (decisions: Inference surface). The items of a final output always come from
 * `outputOf`, streamed or not. A test keeps text and schemas equal.
 */
import { toUsd } from "@sluice/domain/billing/Money"
import type { Answer, AnswerHead } from "@sluice/domain/inference/chat/Inference"
import type { FinishReason } from "@sluice/domain/models/ModelProvider"
import type { ResponseRequest } from "@sluice/domain/inference/responses/ResponseRequest"
import * as Schema from "effect/Schema"
import { alwaysNull, nullable } from "../../infra/WireFields.ts"

const AnyObject = Schema.Record(Schema.String, Schema.Unknown)
const ItemStatus = Schema.Literals(["in_progress", "completed", "incomplete"])
/** Always empty: the models report no annotations and no log probabilities. */
const Nothing = Schema.Array(Schema.Never)

export const OutputTextWire = Schema.Struct({
  type: Schema.Literal("output_text"),
  text: Schema.String,
  annotations: Nothing,
  logprobs: Nothing
}).annotate({ identifier: "ResponseOutputText" })

export const RefusalWire = Schema.Struct({
  type: Schema.Literal("refusal"),
  refusal: Schema.String
}).annotate({ identifier: "ResponseRefusal" })

const OutputMessageWire = Schema.Struct({
  id: Schema.String,
  type: Schema.Literal("message"),
  status: ItemStatus,
  role: Schema.Literal("assistant"),
  content: Schema.Array(Schema.Union([OutputTextWire, RefusalWire]))
}).annotate({ identifier: "ResponseOutputMessage" })

const FunctionCallWire = Schema.Struct({
  id: Schema.String,
  type: Schema.Literal("function_call"),
  status: ItemStatus,
  call_id: Schema.String,
  name: Schema.String,
  namespace: Schema.optionalKey(Schema.String),
  arguments: Schema.String.annotate({ description: "JSON; check it before you use it" })
}).annotate({ identifier: "ResponseFunctionCall" })

export const OutputItemWire = Schema.Union([OutputMessageWire, FunctionCallWire])
export type OutputItem = typeof OutputItemWire.Type
export type CallItem = Extract<OutputItem, { readonly type: "function_call" }>

const UsageWire = Schema.Struct({
  input_tokens: Schema.Int,
  input_tokens_details: Schema.Struct({ cached_tokens: Schema.Int, cache_write_tokens: Schema.Int }),
  output_tokens: Schema.Int,
  output_tokens_details: Schema.Struct({ reasoning_tokens: Schema.Int }),
  total_tokens: Schema.Int,
  cost: Schema.Finite.annotate({ description: "USD" })
}).annotate({ identifier: "ResponseUsage" })

export const ResponseWire = Schema.Struct({
  id: Schema.String,
  object: Schema.Literal("response"),
  created_at: Schema.Int.annotate({ description: "Unix time in seconds" }),
  status: Schema.Literals(["in_progress", "completed", "incomplete", "failed"]),
  background: Schema.Literal(false),
  error: nullable(Schema.Struct({ code: Schema.String, message: Schema.String })),
  incomplete_details: nullable(Schema.Struct({ reason: Schema.Literals(["max_output_tokens", "content_filter"]) })),
  model: Schema.String,
  output: Schema.Array(OutputItemWire),
  usage: nullable(UsageWire),
  instructions: nullable(Schema.String),
  max_output_tokens: nullable(Schema.Finite),
  metadata: AnyObject,
  parallel_tool_calls: Schema.Boolean,
  previous_response_id: alwaysNull,
  prompt_cache_key: nullable(Schema.String),
  reasoning: AnyObject,
  safety_identifier: nullable(Schema.String),
  service_tier: Schema.Literal("default"),
  store: Schema.Literal(false),
  temperature: Schema.Finite,
  text: AnyObject,
  tool_choice: Schema.Union([Schema.String, AnyObject]),
  tools: Schema.Array(AnyObject).annotate({ description: "The tools that the model received" }),
  top_p: Schema.Finite,
  truncation: Schema.Literal("disabled"),
  user: nullable(Schema.String)
}).annotate({ identifier: "Response" })

/** Returns the common part of the ids of a response and its items. */
export const keyOf = (head: AnswerHead): string => head.id.replaceAll("-", "")

/** Returns the id of the item at `index` of an output. */
export const itemId = (type: OutputItem["type"], key: string, index: number): string =>
  `${type === "message" ? "msg" : "fc"}_${key}${index.toString(16).padStart(3, "0")}`

const NONE: ReadonlyArray<never> = []

/** `part`: the content; null before there is any. */
export const messageItem = (
  key: string,
  index: number,
  part: typeof OutputTextWire.Type | typeof RefusalWire.Type | null,
  status: OutputItem["status"]
): OutputItem => ({
  id: itemId("message", key, index),
  type: "message",
  status,
  role: "assistant",
  content: part === null ? NONE : [part]
})

export const outputText = (text: string): typeof OutputTextWire.Type => ({
  type: "output_text",
  text,
  annotations: NONE,
  logprobs: NONE
})

export const refusalPart = (refusal: string): typeof RefusalWire.Type => ({ type: "refusal", refusal })

export const callItem = (
  { tools }: ResponseRequest,
  key: string,
  index: number,
  call: { readonly id: string; readonly name: string; readonly arguments: string },
  status: OutputItem["status"]
): CallItem => ({
  id: itemId("function_call", key, index),
  type: "function_call",
  status,
  call_id: call.id,
  ...tools.callName(call.name),
  arguments: call.arguments
})

/**
 * Returns the items of an answer: its text, split at calls and at a refusal, and those. An answer without text has one
 * message.
 */
const outputOf = (request: ResponseRequest, { choices, head }: Answer): ReadonlyArray<OutputItem> => {
  const { calls, reason, refusal, text } = choices[0]!
  const key = keyOf(head)
  const between = calls.map((call) => ({
    at: call.textOffset,
    item: (index: number): OutputItem => callItem(request, key, index, call, "completed")
  }))
  if (refusal !== undefined) {
    const item = (index: number) => messageItem(key, index, refusalPart(refusal.text), "completed")
    between.splice(refusal.calls, 0, { at: refusal.textOffset, item })
  }
  const items: Array<OutputItem> = []
  let sentTo = 0
  const addMessage = (to: number) =>
    items.push(messageItem(key, items.length, outputText(text.slice(sentTo, to)), "completed"))
  for (const { at, item } of between) {
    if (at > sentTo) addMessage(at)
    items.push(item(items.length))
    sentTo = at
  }
  if (sentTo < text.length || items.length === 0) addMessage(text.length)
  const last = items.length - 1
  if (!isComplete(reason)) items[last] = { ...items[last]!, status: "incomplete" }
  return items
}

/** True where the model ended the answer itself. */
const isComplete = (reason: FinishReason): boolean => reason === "stop" || reason === "tool_calls"

/** Returns a response object as text. `echo`: JSON text of the fields that repeat the request. */
export const responseText = (
  head: AnswerHead,
  echo: string,
  { error = null, incomplete = null, output = NONE, status, usage = null }: ResponseState
): string => {
  const own = JSON.stringify({
    id: `resp_${keyOf(head)}`,
    object: "response",
    created_at: head.created,
    status,
    background: false,
    error,
    incomplete_details: incomplete,
    model: head.model,
    output,
    usage
  })
  return `${own.slice(0, -1)},${echo.slice(1)}`
}

type Wire = typeof ResponseWire.Type

export interface ResponseState {
  readonly status: Wire["status"]
  readonly output?: Wire["output"]
  readonly error?: Wire["error"]
  readonly incomplete?: Wire["incomplete_details"]
  readonly usage?: Wire["usage"]
}

/** Returns the final state of a response. */
export const endState = (
  request: ResponseRequest,
  answer: Answer
): ResponseState & { readonly output: Wire["output"] } => {
  const { reason } = answer.choices[0]!
  const { completionTokens, cost, promptTokens } = answer.usage
  return {
    status: isComplete(reason) ? "completed" : "incomplete",
    incomplete: isComplete(reason) ? null : { reason: reason === "length" ? "max_output_tokens" : "content_filter" },
    output: outputOf(request, answer),
    usage: {
      input_tokens: promptTokens,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: completionTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: promptTokens + completionTokens,
      cost: toUsd(cost)
    }
  }
}

/** Returns the body of a buffered answer. */
export const bufferedResponseText = (request: ResponseRequest, answer: Answer): string =>
  responseText(answer.head, JSON.stringify(request.echo), endState(request, answer))
