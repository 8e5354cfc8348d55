/**
 * Answers of POST /chat/completions on the wire: schemas for the OpenAPI document and clients, and the text that the
 * server sends (interface: POST /chat/completions; decisions: Streams). A test keeps text and schemas equal.
 */
import { toUsd } from "@sluice/domain/billing/Money"
import type { Answer, AnswerHead, AnswerUsage } from "@sluice/domain/inference/chat/Inference"
import type { ChatEvent, OutputToken, TokenChance } from "@sluice/domain/models/ModelProvider"
import * as Schema from "effect/Schema"
import { alwaysNull, nullable } from "../../infra/WireFields.ts"

const FinishReason = Schema.Literals(["stop", "length", "tool_calls", "content_filter"])

const UsageWire = Schema.Struct({
  prompt_tokens: Schema.Int,
  completion_tokens: Schema.Int,
  total_tokens: Schema.Int,
  cost: Schema.Finite.annotate({ description: "USD" })
}).annotate({ identifier: "ChatUsage" })

const extraContent = Schema.optionalKey(
  Schema.Record(Schema.String, Schema.Unknown).annotate({
    description: "Extra data of some models, such as Gemini's thought signatures; send it back unchanged with the call"
  })
)

const ToolCallWire = Schema.Struct({
  id: Schema.String,
  type: Schema.Literal("function"),
  function: Schema.Struct({
    name: Schema.String,
    arguments: Schema.String.annotate({ description: "JSON; check it before you use it" })
  }),
  extra_content: extraContent
}).annotate({ identifier: "ChatToolCall" })

/** The first chunk of a call contains `id`, `type`, the name and `extra_content`. */
const ToolCallDeltaWire = Schema.Struct({
  index: Schema.Int,
  id: Schema.optionalKey(Schema.String),
  type: Schema.optionalKey(Schema.Literal("function")),
  function: Schema.Struct({ name: Schema.optionalKey(Schema.String), arguments: Schema.String }),
  extra_content: extraContent
}).annotate({ identifier: "ChatToolCallDelta" })

const tokenFields = {
  token: Schema.String,
  logprob: Schema.Finite,
  bytes: nullable(Schema.Array(Schema.Int))
}

const LogprobsWire = Schema.Struct({
  content: nullable(
    Schema.Array(Schema.Struct({ ...tokenFields, top_logprobs: Schema.Array(Schema.Struct(tokenFields)) }))
  ),
  refusal: alwaysNull
}).annotate({ identifier: "ChatLogprobs" })

export const ChatCompletionWire = Schema.Struct({
  id: Schema.String,
  object: Schema.Literal("chat.completion"),
  created: Schema.Int.annotate({ description: "Unix time in seconds" }),
  model: Schema.String,
  choices: Schema.Array(
    Schema.Struct({
      index: Schema.Int,
      message: Schema.Struct({
        role: Schema.Literal("assistant"),
        content: nullable(Schema.String),
        refusal: Schema.optionalKey(Schema.String),
        name: Schema.optionalKey(Schema.String),
        tool_calls: Schema.optionalKey(Schema.Array(ToolCallWire))
      }),
      logprobs: Schema.optionalKey(LogprobsWire),
      finish_reason: FinishReason
    })
  ),
  usage: UsageWire
}).annotate({ identifier: "ChatCompletion" })

export const ChatChunkWire = Schema.Struct({
  id: Schema.String,
  object: Schema.Literal("chat.completion.chunk"),
  created: Schema.Int.annotate({ description: "Unix time in seconds" }),
  model: Schema.String,
  choices: Schema.Array(
    Schema.Struct({
      index: Schema.Int,
      delta: Schema.Struct({
        role: Schema.optionalKey(Schema.Literal("assistant")),
        content: Schema.optionalKey(Schema.NullOr(Schema.String)),
        refusal: Schema.optionalKey(Schema.String),
        tool_calls: Schema.optionalKey(Schema.Array(ToolCallDeltaWire))
      }),
      logprobs: Schema.optionalKey(LogprobsWire),
      finish_reason: nullable(FinishReason)
    })
  ),
  usage: Schema.optionalKey(UsageWire)
}).annotate({ identifier: "ChatCompletionChunk" })

/** Returns the body of a buffered answer. */
export const completionText = ({ head, choices, usage }: Answer): string =>
  JSON.stringify({
    id: `chatcmpl-${head.id}`,
    object: "chat.completion",
    created: head.created,
    model: head.model,
    choices: choices.map(({ calls, reason, refusal, text, tokens }, index) => ({
      index,
      message: {
        role: "assistant",
        content: text === "" && (calls.length > 0 || refusal !== undefined) ? null : text,
        ...(refusal === undefined ? {} : { refusal: refusal.text }),
        ...(calls.length === 0 ? {} : { tool_calls: calls.map(callToWire) })
      },
      ...(tokens === undefined ? {} : { logprobs: logprobsOf(tokens) }),
      finish_reason: reason
    })),
    usage: usageToWire(usage)
  } satisfies typeof ChatCompletionWire.Type)

const callToWire = (call: Answer["choices"][number]["calls"][number]): typeof ToolCallWire.Type => ({
  id: call.id,
  type: "function",
  function: { name: call.name, arguments: call.arguments },
  ...(call.extra === undefined ? {} : { extra_content: call.extra })
})

const usageToWire = (usage: AnswerUsage): typeof UsageWire.Type => ({
  prompt_tokens: usage.promptTokens,
  completion_tokens: usage.completionTokens,
  total_tokens: usage.promptTokens + usage.completionTokens,
  cost: toUsd(usage.cost)
})

/** Returns the start of a chunk up to its `choices`, which is the same for all chunks of a stream. */
export const chunkStart = (head: AnswerHead): string =>
  `data: {"id":${JSON.stringify(`chatcmpl-${head.id}`)},"object":"chat.completion.chunk","created":${head.created},"model":${JSON.stringify(head.model)},"choices":`

/** A chunk of text, with its tokens where they were requested. The first chunk of a choice names the role. */
export const textChunk = (
  start: string,
  index: number,
  text: string,
  isFirst: boolean,
  tokens?: ReadonlyArray<OutputToken>
): string =>
  `${start}[{"index":${index},"delta":{${isFirst ? '"role":"assistant",' : ""}"content":${JSON.stringify(text)}},${tokens === undefined ? "" : `"logprobs":${JSON.stringify(logprobsOf(tokens))},`}"finish_reason":null}]}\n\n`

/** A chunk of a refusal. The first chunk of a choice names the role. */
export const refusalChunk = (start: string, index: number, text: string, isFirst: boolean): string =>
  `${start}[{"index":${index},"delta":{${isFirst ? '"role":"assistant","content":null,' : ""}"refusal":${JSON.stringify(text)}},"finish_reason":null}]}\n\n`

const encoder = new TextEncoder()

const tokenToWire = ({ bytes, logprob, token }: TokenChance) => ({
  token,
  logprob,
  bytes: bytes ?? [...encoder.encode(token)]
})

const logprobsOf = (tokens: ReadonlyArray<OutputToken>): typeof LogprobsWire.Type => ({
  content: tokens.map((said) => ({ ...tokenToWire(said), top_logprobs: said.top.map(tokenToWire) })),
  refusal: null
})

/** The start of a tool call. The first chunk of a choice names the role. */
export const callChunk = (
  start: string,
  { call, extra, id, index, name }: Omit<Extract<ChatEvent, { readonly _tag: "ToolCall" }>, "_tag">,
  isFirst: boolean
): string =>
  `${start}[{"index":${index},"delta":{${isFirst ? '"role":"assistant","content":null,' : ""}"tool_calls":[{"index":${call},"id":${JSON.stringify(id)},"type":"function","function":{"name":${JSON.stringify(name)},"arguments":""}${extra === undefined ? "" : `,"extra_content":${JSON.stringify(extra)}`}}]},"finish_reason":null}]}\n\n`

/** A chunk of a tool call's arguments. */
export const argumentsChunk = (start: string, index: number, call: number, text: string): string =>
  `${start}[{"index":${index},"delta":{"tool_calls":[{"index":${call},"function":{"arguments":${JSON.stringify(text)}}}]},"finish_reason":null}]}\n\n`

/** The finish reason of each choice, the usage where it was requested, and the last line. */
export const streamEnd = (start: string, answer: Answer, includeUsage: boolean): string => {
  const finishes = answer.choices.map(
    ({ reason }, index) => `${start}[{"index":${index},"delta":{},"finish_reason":"${reason}"}]}\n\n`
  )
  const usage = includeUsage ? `${start}[],"usage":${JSON.stringify(usageToWire(answer.usage))}}\n\n` : ""
  return `${finishes.join("")}${usage}data: [DONE]\n\n`
}
