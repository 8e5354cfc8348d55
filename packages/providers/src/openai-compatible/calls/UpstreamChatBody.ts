/**
 * A question as an upstream reads it: the body of its POST /chat/completions. Only what differs from everybody's default
 * is said, because servers refuse fields that they don't know; and the end user stays unknown to them.
 */
import type { ChatImage, ChatMessage, ChatRequest, ResponseFormat } from "@sluice/domain/models/ChatRequest"
import { bodyText } from "../upstream/BodyText.ts"
import type { Omittable } from "../catalog/CatalogFile.ts"

/** How one upstream wants it. */
export interface Dialect {
  readonly model: string
  readonly maxTokensField: "max_tokens" | "max_completion_tokens"
  readonly omit: ReadonlySet<Omittable>
}

type Json = Readonly<Record<string, unknown>>

export const upstreamChatBody = (request: ChatRequest, dialect: Dialect): string => {
  const tools = request.tools.length > 0
  const fields: Readonly<Record<string, unknown>> = {
    model: dialect.model,
    messages: request.messages.map((message) => messageBody(message, !dialect.omit.has("extra_content"))),
    [dialect.maxTokensField]: request.maxTokens,
    temperature: request.temperature,
    top_p: unless(request.topP, 1),
    frequency_penalty: unless(request.frequencyPenalty, 0),
    presence_penalty: unless(request.presencePenalty, 0),
    stop: request.stop.length === 0 ? undefined : request.stop,
    n: unless(request.choices, 1),
    seed: request.seed,
    stream: request.stream,
    // Always asked for: without it a stream tells no count, and then ours is billed.
    stream_options: request.stream ? { include_usage: true } : undefined,
    tools: tools ? request.tools.map(toolBody) : undefined,
    tool_choice: tools ? choiceBody(request.toolChoice) : undefined,
    parallel_tool_calls: tools && !request.parallelToolCalls ? false : undefined,
    response_format: formatBody(request.responseFormat),
    reasoning_effort: request.reasoningEffort,
    logprobs: request.logprobs ? true : undefined,
    top_logprobs: request.topLogprobs > 0 ? request.topLogprobs : undefined
  }
  return bodyText(fields, dialect.omit)
}

const unless = (value: number, usual: number): number | undefined => (value === usual ? undefined : value)

/** `extras`: whether calls go back with what their server put on them. */
const messageBody = (message: ChatMessage, extras: boolean): Json => {
  const { callExtras, name, parts, role, text, toolCallId, toolCalls } = message
  return {
    // Servers of open models know no other word for it, those of OpenAI take either.
    role: role === "developer" ? "system" : role,
    content: parts === undefined ? (toolCalls !== undefined && text === "" ? null : text) : parts.map(partBody),
    name,
    tool_calls: toolCalls === undefined ? undefined : callsBody(toolCalls, extras ? callExtras : undefined),
    tool_call_id: toolCallId
  }
}

const callsBody = (toolCalls: string, extras: ChatMessage["callExtras"]): ReadonlyArray<Json> =>
  (JSON.parse(toolCalls) as ReadonlyArray<Json>).map((call, at) =>
    extras?.[at] === undefined ? call : { ...call, extra_content: extras[at] }
  )

const partBody = (part: string | ChatImage): Json =>
  typeof part === "string"
    ? { type: "text", text: part }
    : {
        type: "image_url",
        image_url: part.detail === "auto" ? { url: part.url } : { url: part.url, detail: part.detail }
      }

const toolBody = ({ description, name, parameters, strict }: ChatRequest["tools"][number]): Json => ({
  type: "function",
  function: { name, description: description === "" ? undefined : description, parameters, strict }
})

const choiceBody = (choice: ChatRequest["toolChoice"]) =>
  typeof choice === "string" ? unlessAuto(choice) : { type: "function", function: { name: choice.named } }

const unlessAuto = (choice: "none" | "auto" | "required") => (choice === "auto" ? undefined : choice)

const formatBody = (format: ResponseFormat): Json | undefined => {
  if (format.type === "text") return undefined
  if (format.type === "json_object") return { type: "json_object" }
  const { description, name, schema, strict } = format
  return { type: "json_schema", json_schema: { name: name ?? "answer", description, schema, strict } }
}
