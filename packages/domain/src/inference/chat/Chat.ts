/**
 * A question to a model as the service works with it: every default filled in, every rule of the request table checked.
 * Refuses the first thing that is wrong, with the path of the field, before anything is reserved or counted.
 */
import type { ChatImage, ChatMessage, ResponseFormat, ChatTool, ChatRequest } from "../../models/ChatRequest.ts"
import { Result } from "effect"
import { bodyDecoder, invalid } from "../../models/BodyCheck.ts"
import { ChatBody, type MessageBody, withToolType } from "./ChatBody.ts"
import { extraContentOf } from "../../models/ExtraContent.ts"
import { isLink, plainImageUrl } from "../images/ImageUrl.ts"
import type { ModelRequestInvalid } from "../../models/InferenceErrors.ts"
import { type ToolFault, toolFaultOf } from "./ToolResults.ts"

const decode = bodyDecoder(ChatBody)

/** Checks a parsed JSON body. */
export const decodeChat = (body: unknown): Result.Result<ChatRequest, ModelRequestInvalid> =>
  Result.flatMap(decode(withToolType(body)), (given) => chatOf(given, toolFaultPath))

const toolFaultPath = ({ call, message }: ToolFault): string =>
  call === undefined ? `messages.${message}.tool_call_id` : `messages.${message}`

/** The rules of a body that has the right shape. `pathOf`: where a tool fault stands in the body that the caller sent. */
export const chatOf = (
  body: ChatBody,
  pathOf: (fault: ToolFault) => string
): Result.Result<ChatRequest, ModelRequestInvalid> => {
  const messages: Array<ChatMessage> = []
  for (const [index, message] of body.messages.entries()) {
    const one = normaliseMessage(message, `messages.${index}`)
    if (Result.isFailure(one)) return Result.fail(one.failure)
    messages.push(one.success)
  }
  const toolFault = toolFaultOf(body.messages)
  if (toolFault !== undefined) {
    const param = pathOf(toolFault)
    return invalid(param, `Invalid value for '${param}': ${toolFault.why}`)
  }
  const format = formatOf(body)
  if (Result.isFailure(format)) return Result.fail(format.failure)
  const calling = callingOf(body)
  if (Result.isFailure(calling)) return Result.fail(calling.failure)
  if (body.modalities?.includes("audio") === true) {
    return invalid("modalities", "Invalid value for 'modalities': answers are text; POST /v1/audio/speech speaks it")
  }
  if (body.functions !== undefined && body.functions !== null && body.functions.length > 0) {
    return invalid("functions", "Invalid value for 'functions': it was replaced; send 'tools' and 'tool_choice'")
  }
  const top = body.top_logprobs ?? 0
  if (top > 0 && body.logprobs !== true) {
    return invalid("top_logprobs", "Invalid value for 'top_logprobs': it needs logprobs: true")
  }
  const stops = body.stop ?? []
  return Result.succeed({
    model: body.model,
    messages,
    maxTokens: body.max_completion_tokens ?? body.max_tokens ?? undefined,
    temperature: body.temperature ?? 0.7,
    topP: body.top_p ?? 1,
    stop: (typeof stops === "string" ? [stops] : stops).filter((stop) => stop !== ""),
    frequencyPenalty: body.frequency_penalty ?? 0,
    presencePenalty: body.presence_penalty ?? 0,
    choices: body.n ?? 1,
    stream: body.stream ?? false,
    includeUsage: body.stream_options?.include_usage ?? false,
    seed: body.seed ?? undefined,
    ...calling.success,
    parallelToolCalls: body.parallel_tool_calls ?? true,
    responseFormat: format.success,
    reasoningEffort: body.reasoning_effort ?? undefined,
    logprobs: body.logprobs ?? false,
    topLogprobs: top
  })
}

const NOTHING_TO_CALL = Result.succeed({ tools: [], toolPlaces: [], toolChoice: "auto" as const })

/** What the model may and must call. */
const callingOf = (
  body: ChatBody
): Result.Result<Pick<ChatRequest, "tools" | "toolPlaces" | "toolChoice">, ModelRequestInvalid> => {
  const sent = body.tools ?? []
  const asked = body.tool_choice ?? "auto"
  if (sent.length === 0 && asked === "auto") return NOTHING_TO_CALL
  const [choice, some] =
    typeof asked === "object" && asked.type === "allowed_tools"
      ? [asked.allowed_tools.mode, asked.allowed_tools.tools]
      : [asked, undefined]
  const allowed = new Set<string>()
  for (const [index, one] of (some ?? []).entries()) {
    const { name } = one.function
    if (!sent.some((tool) => tool.function.name === name)) {
      return noTool(`tool_choice.allowed_tools.tools.${index}.function.name`, name)
    }
    allowed.add(name)
  }
  const toolPlaces = [...sent.keys()].filter((at) => some === undefined || allowed.has(sent[at]!.function.name))
  const tools = toolPlaces.map((at): ChatTool => {
    const { description, name, parameters, strict } = sent[at]!.function
    return {
      name,
      description: description ?? "",
      parameters: parameters ?? undefined,
      strict: strict ?? undefined
    }
  })
  const calling = (toolChoice: ChatRequest["toolChoice"]) => Result.succeed({ tools, toolPlaces, toolChoice })
  if (choice === "none" || choice === "auto") return calling(choice)
  if (tools.length === 0) {
    return invalid("tool_choice", "Invalid value for 'tool_choice': a tool can be asked for only where there are tools")
  }
  if (choice === "required") return calling(choice)
  const { name } = choice.function
  return tools.some((tool) => tool.name === name) ? calling({ named: name }) : noTool("tool_choice", name)
}

export const noTool = (param: string, name: string) =>
  invalid(param, `Invalid value for '${param}': none of the tools is called ${JSON.stringify(name)}`)

const normaliseMessage = (message: MessageBody, path: string): Result.Result<ChatMessage, ModelRequestInvalid> => {
  // Without words of its own, an assistant said its refusal.
  const refusal = message.role === "assistant" ? (message.refusal ?? "") : ""
  const content = refusal !== "" && (message.content ?? "") === "" ? refusal : (message.content ?? null)
  const toolCalls = (message.tool_calls ?? []).map(({ function: called, id, type }) => ({ id, type, function: called }))
  const callExtras = (message.tool_calls ?? []).map((call) => extraContentOf(call.extra_content))
  if (content === null && (message.role !== "assistant" || toolCalls.length === 0)) {
    return invalid(
      `${path}.content`,
      `Invalid value for '${path}.content': a message of role ${message.role} needs content`
    )
  }
  if (message.role === "tool" && (message.tool_call_id ?? null) === null) {
    const param = `${path}.tool_call_id`
    return invalid(param, `Invalid value for '${param}': a message of role tool names the call that it answers`)
  }
  const parts: Array<string | ChatImage> = []
  for (const [index, part] of (typeof content === "string" ? [] : (content ?? [])).entries()) {
    if (part.type === "text") parts.push(part.text)
    else if (part.type === "refusal") parts.push(part.refusal)
    else {
      const param = `${path}.content.${index}.image_url.url`
      const { detail, url } = part.image_url
      const plain = isLink(url) ? Result.succeed(url) : plainImageUrl(url, param)
      if (Result.isFailure(plain)) return invalid(param, plain.failure)
      parts.push({ url: plain.success, detail: detail ?? "auto" })
    }
  }
  const texts = parts.filter((part) => typeof part === "string")
  const images = parts.filter((part) => typeof part !== "string")
  return Result.succeed({
    role: message.role,
    text: typeof content === "string" ? content : texts.join("\n"),
    images,
    parts: images.length === 0 ? undefined : parts,
    name: message.name ?? undefined,
    toolCalls: toolCalls.length === 0 ? undefined : JSON.stringify(toolCalls),
    ...(callExtras.some((extra) => extra !== undefined) ? { callExtras } : {}),
    toolCallId: message.tool_call_id ?? undefined
  })
}

const formatOf = (body: ChatBody): Result.Result<ResponseFormat, ModelRequestInvalid> => {
  const format = body.response_format ?? { type: "text" as const }
  if (format.type === "text") return Result.succeed({ type: "text" })
  if (format.type === "json_object") {
    const schema = format.schema ?? format.value ?? null
    if (schema === null) return Result.succeed({ type: "json_object" })
    return Result.succeed({ type: "json_schema", schema, name: undefined, strict: format.strict ?? false })
  }
  const { description, name, schema, strict } = format.json_schema ?? {}
  if (schema !== undefined && schema !== null) {
    return Result.succeed({
      type: "json_schema",
      schema,
      name: name ?? undefined,
      description: description ?? undefined,
      strict: strict ?? undefined
    })
  }
  const param = "response_format.json_schema.schema"
  return invalid(param, `Invalid value for '${param}': type json_schema needs a JSON schema`)
}
