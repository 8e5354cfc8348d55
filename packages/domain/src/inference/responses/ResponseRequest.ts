/**
 * A response that is asked for: the chat that the engine is asked, and what the answer repeats. There is one engine and one
 * set of rules for both; a refusal is told with the path of the field that this body has.
 */
import { Result } from "effect"
import { bodyDecoder, invalid } from "../../models/BodyCheck.ts"
import { chatOf } from "../chat/Chat.ts"
import { type ChatRequest } from "../../models/ChatRequest.ts"
import type { ToolFault } from "../chat/ToolResults.ts"
import type { ChatBody } from "../chat/ChatBody.ts"
import { ModelRequestInvalid } from "../../models/InferenceErrors.ts"
import { OpenResponseBody } from "./ResponseBody.ts"
import { messagesOf, type PlacedMessage } from "./ResponseInput.ts"
import { type ResponseTools, toolsOf } from "./ResponseTools.ts"

export interface ResponseRequest {
  readonly chat: ChatRequest
  readonly tools: ResponseTools
  readonly echo: ResponseEcho
  readonly paths: BodyPaths
}

/** What of a request its answer repeats, by the names of the wire: what holds, which need not be what was asked. */
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

/** Where the parts of the chat stand in the body. */
interface BodyPaths {
  readonly messages: ReadonlyArray<string>
  readonly tools: ReadonlyArray<string>
}

const decode = bodyDecoder(OpenResponseBody)

/** Checks a parsed JSON body. */
export const decodeResponse = (body: unknown): Result.Result<ResponseRequest, ModelRequestInvalid> =>
  Result.flatMap(decode(body), (given) => {
    const stateful = NOT_KEPT.find(({ asked }) => asked(given))
    if (stateful !== undefined) {
      return invalid(stateful.param, `Invalid value for '${stateful.param}': ${stateful.message}`)
    }
    return Result.flatMap(toolsOf(given.tools ?? []), (tools) =>
      Result.flatMap(tools.choice(given.tool_choice ?? "auto"), (choice) =>
        Result.flatMap(messagesOf(given.input), (messages) => requestOf(given, messages, tools, choice))
      )
    )
  })

/** What would need a stored response, and what no model here tells. */
const NOT_KEPT: ReadonlyArray<{
  readonly param: string
  readonly asked: (body: OpenResponseBody) => boolean
  readonly message: string
}> = [
  {
    param: "previous_response_id",
    asked: (body) => (body.previous_response_id ?? null) !== null,
    message: "responses are not stored here; send the whole conversation as input"
  },
  {
    param: "conversation",
    asked: (body) => (body.conversation ?? null) !== null,
    message: "conversations are not stored here; send the whole conversation as input"
  },
  {
    param: "prompt",
    asked: (body) => (body.prompt ?? null) !== null,
    message: "prompts are not stored here; send instructions and input"
  },
  {
    param: "background",
    asked: (body) => body.background === true,
    message: "responses are not stored here, so none is made in the background; leave it out"
  },
  {
    param: "top_logprobs",
    asked: (body) => (body.top_logprobs ?? 0) > 0,
    message: "log probabilities are not given here; leave it out"
  }
]

const requestOf = (
  given: OpenResponseBody,
  input: ReadonlyArray<PlacedMessage>,
  tools: ResponseTools,
  choice: NonNullable<ChatBody["tool_choice"]>
): Result.Result<ResponseRequest, ModelRequestInvalid> => {
  const instructions = given.instructions ?? ""
  const placed: ReadonlyArray<PlacedMessage> =
    instructions === ""
      ? input
      : [{ path: "instructions", message: { role: "system", content: instructions } }, ...input]
  const format = given.text?.format ?? { type: "text" as const }
  const body: ChatBody = {
    model: given.model,
    messages: placed.map(({ message }) => message),
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
  const paths = { messages: placed.map(({ path }) => path), tools: tools.offered.map(({ path }) => path) }
  const idPath = ({ call = 0, message }: ToolFault) => placed[message]?.ids?.[call] ?? "input"
  return Result.mapBoth(chatOf(body, idPath), {
    onFailure: (refusal) => inBody(paths, refusal),
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

/** A refusal of the chat, told of the field of this body. */
export const inBody = (paths: BodyPaths, refusal: ModelRequestInvalid): ModelRequestInvalid => {
  const { code, message, param } = refusal
  if (param === null) return refusal
  const own = pathInBody(paths, param)
  return new ModelRequestInvalid({ code, param: own, message: message.replaceAll(`'${param}'`, `'${own}'`) })
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
  return RENAMED[param] ?? param
}

const RENAMED: Readonly<Record<string, string>> = {
  messages: "input",
  max_completion_tokens: "max_output_tokens",
  max_tokens: "max_output_tokens",
  response_format: "text.format",
  "response_format.json_schema.schema": "text.format.schema"
}
