/**
 * Decodes a request for a response into a chat request and the fields that its answer repeats. Both surfaces use the
 * rules and the engine of the chat. A refusal names the path of the field in this body.
 */
import { Result } from "effect"
import { bodyDecoder, invalid } from "../../models/BodyCheck.ts"
import { chatOf } from "../chat/Chat.ts"
import { type ChatRequest } from "../../models/ChatRequest.ts"
import type { ToolFault } from "../chat/ToolResults.ts"
import type { ChatBody } from "../chat/ChatBody.ts"
import { ModelRequestInvalid } from "../../models/InferenceErrors.ts"
import { OpenResponseBody } from "./ResponseBody.ts"
import { messagesOf, type MessageAtPath } from "./ResponseInput.ts"
import { type ResponseTools, toolsOf } from "./ResponseTools.ts"

export interface ResponseRequest {
  readonly chat: ChatRequest
  readonly tools: ResponseTools
  readonly echo: ResponseEcho
  readonly paths: BodyPaths
}

/**
 * The fields that an answer repeats, under their wire names. They are the effective values, which may differ from the
 * requested ones.
 */
export interface ResponseEcho {
  readonly instructions: string | null
  readonly max_output_tokens: number | null
  readonly metadata: Readonly<Record<string, unknown>>
  readonly parallel_tool_calls: boolean
  readonly previous_response_id: null
  readonly prompt_cache_key: string | null
  readonly reasoning: { readonly effort: string | null; readonly summary: null }
  readonly safety_identifier: string | null
  readonly service_tier: "default"
  readonly store: false
  readonly temperature: number
  readonly text: Pick<NonNullable<OpenResponseBody["text"]>, "format">
  readonly tool_choice: NonNullable<OpenResponseBody["tool_choice"]>
  readonly tools: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly top_p: number
  readonly truncation: "disabled"
  readonly user: string | null
}

/** The paths of the chat's parts in this body. */
interface BodyPaths {
  readonly messages: ReadonlyArray<string>
  readonly tools: ReadonlyArray<string>
}

const decode = bodyDecoder(OpenResponseBody)

/** Decodes a parsed JSON body. */
export const decodeResponse = (body: unknown): Result.Result<ResponseRequest, ModelRequestInvalid> =>
  Result.flatMap(decode(body), (given) => {
    const unsupported = UNSUPPORTED.find(({ isRequested }) => isRequested(given))
    if (unsupported !== undefined) {
      return invalid(unsupported.param, `Invalid value for '${unsupported.param}': ${unsupported.message}`)
    }
    return Result.flatMap(toolsOf(given.tools ?? []), (tools) =>
      Result.flatMap(tools.choice(given.tool_choice ?? "auto"), (choice) =>
        Result.flatMap(messagesOf(given.input), (messages) => requestOf(given, messages, tools, choice))
      )
    )
  })

/** Options that need a stored response, and log probabilities, which are not supported here. */
const UNSUPPORTED: ReadonlyArray<{
  readonly param: string
  readonly isRequested: (body: OpenResponseBody) => boolean
  readonly message: string
}> = [
  {
    param: "previous_response_id",
    isRequested: (body) => (body.previous_response_id ?? null) !== null,
    message: "responses are not stored here; send the whole conversation as input"
  },
  {
    param: "conversation",
    isRequested: (body) => (body.conversation ?? null) !== null,
    message: "conversations are not stored here; send the whole conversation as input"
  },
  {
    param: "prompt",
    isRequested: (body) => (body.prompt ?? null) !== null,
    message: "prompts are not stored here; send instructions and input"
  },
  {
    param: "background",
    isRequested: (body) => body.background === true,
    message: "responses are not stored here, so none is made in the background; leave it out"
  },
  {
    param: "top_logprobs",
    isRequested: (body) => (body.top_logprobs ?? 0) > 0,
    message: "log probabilities are not given here; leave it out"
  }
]

const requestOf = (
  given: OpenResponseBody,
  input: ReadonlyArray<MessageAtPath>,
  tools: ResponseTools,
  choice: NonNullable<ChatBody["tool_choice"]>
): Result.Result<ResponseRequest, ModelRequestInvalid> => {
  const instructions = given.instructions ?? ""
  const messages: ReadonlyArray<MessageAtPath> =
    instructions === ""
      ? input
      : [{ path: "instructions", message: { role: "system", content: instructions } }, ...input]
  const format = given.text?.format ?? { type: "text" as const }
  const body: ChatBody = {
    model: given.model,
    messages: messages.map(({ message }) => message),
    max_completion_tokens: given.max_output_tokens ?? null,
    temperature: given.temperature ?? null,
    top_p: given.top_p ?? null,
    stream: given.stream ?? null,
    tools: tools.offered.map(({ tool }) => tool),
    tool_choice: choice,
    parallel_tool_calls: given.parallel_tool_calls ?? null,
    reasoning_effort: given.reasoning?.effort ?? null,
    response_format: format.type === "json_schema" ? { type: format.type, json_schema: format } : format
  }
  const paths = { messages: messages.map(({ path }) => path), tools: tools.offered.map(({ path }) => path) }
  const idPath = ({ call = 0, message }: ToolFault) => messages[message]?.ids?.[call] ?? "input"
  return Result.mapBoth(chatOf(body, idPath), {
    onFailure: (refusal) => toBodyRefusal(paths, refusal),
    onSuccess: (chat) => ({ chat, tools, echo: echoOf(given, chat, tools), paths })
  })
}

const echoOf = (given: OpenResponseBody, chat: ChatRequest, tools: ResponseTools): ResponseEcho => ({
  instructions: given.instructions ?? null,
  max_output_tokens: given.max_output_tokens ?? null,
  metadata: given.metadata ?? {},
  parallel_tool_calls: chat.parallelToolCalls,
  previous_response_id: null,
  prompt_cache_key: given.prompt_cache_key ?? null,
  reasoning: { effort: given.reasoning?.effort ?? null, summary: null },
  safety_identifier: given.safety_identifier ?? null,
  service_tier: "default",
  store: false,
  temperature: chat.temperature,
  text: { format: given.text?.format ?? { type: "text" } },
  tool_choice: given.tool_choice ?? "auto",
  tools: tools.shown,
  top_p: chat.topP,
  truncation: "disabled",
  user: given.user ?? null
})

/** Turns a refusal of the chat into one of the field of this body. */
export const toBodyRefusal = (paths: BodyPaths, refusal: ModelRequestInvalid): ModelRequestInvalid => {
  const { code, message, param } = refusal
  if (param === null) return refusal
  const bodyParam = pathInBody(paths, param)
  return new ModelRequestInvalid({
    code,
    param: bodyParam,
    message: message.replaceAll(`'${param}'`, `'${bodyParam}'`)
  })
}

const pathInBody = (paths: BodyPaths, param: string): string => {
  const message = /^messages\.(\d+)(?:\.content)?(\.\d+)?/.exec(param)
  if (message !== null) {
    const path = paths.messages[Number(message[1])] ?? "input"
    const part = message[2] === undefined ? "" : `${message[2]}${param.endsWith(".image_url.url") ? ".image_url" : ""}`
    return path + part
  }
  const tool = /^tools\.(\d+)\.function(.*)$/.exec(param)
  if (tool !== null) return `${paths.tools[Number(tool[1])] ?? "tools"}${tool[2]}`
  return BODY_NAMES[param] ?? param
}

const BODY_NAMES: Readonly<Record<string, string>> = {
  messages: "input",
  max_completion_tokens: "max_output_tokens",
  max_tokens: "max_output_tokens",
  response_format: "text.format",
  "response_format.json_schema.schema": "text.format.schema"
}
