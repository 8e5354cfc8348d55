/**
 * Decodes a chat request: defaults are filled in and every rule of the request table is checked. The first mistake is
 * refused with the path of its field, before money is reserved or tokens are counted.
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

/** Decodes a parsed JSON body. */
export const decodeChat = (body: unknown): Result.Result<ChatRequest, ModelRequestInvalid> =>
  Result.flatMap(decode(withToolType(body)), (given) => chatOf(given, toolFaultPath))

const toolFaultPath = ({ call, message }: ToolFault): string =>
  call === undefined ? `messages.${message}.tool_call_id` : `messages.${message}`

/** Checks the rules of a body that has the right shape. `pathOf` gives the path of a tool fault in the caller's body. */
export const chatOf = (
  body: ChatBody,
  pathOf: (fault: ToolFault) => string
): Result.Result<ChatRequest, ModelRequestInvalid> => {
  const messages: Array<ChatMessage> = []
  for (const [index, message] of body.messages.entries()) {
    const normalised = normaliseMessage(message, `messages.${index}`)
    if (Result.isFailure(normalised)) return Result.fail(normalised.failure)
    messages.push(normalised.success)
  }
  const toolFault = toolFaultOf(body.messages)
  if (toolFault !== undefined) {
    const param = pathOf(toolFault)
    return invalid(param, `Invalid value for '${param}': ${toolFault.why}`)
  }
  const format = formatOf(body)
  if (Result.isFailure(format)) return Result.fail(format.failure)
  const toolUse = toolUseOf(body)
  if (Result.isFailure(toolUse)) return Result.fail(toolUse.failure)
  if (body.modalities?.includes("audio") === true) {
    return invalid(
      "modalities",
      "Invalid value for 'modalities': answers are text only; POST /v1/audio/speech makes speech of it"
    )
  }
  if (body.functions !== undefined && body.functions !== null && body.functions.length > 0) {
    return invalid("functions", "Invalid value for 'functions': it is not supported; send 'tools' and 'tool_choice'")
  }
  const top = body.top_logprobs ?? 0
  if (top > 0 && body.logprobs !== true) {
    return invalid("top_logprobs", "Invalid value for 'top_logprobs': send logprobs: true with it")
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
    ...toolUse.success,
    parallelToolCalls: body.parallel_tool_calls ?? true,
    responseFormat: format.success,
    reasoningEffort: body.reasoning_effort ?? undefined,
    logprobs: body.logprobs ?? false,
    topLogprobs: top
  })
}

const NO_TOOLS = Result.succeed({ tools: [], toolIndexes: [], toolChoice: "auto" as const })

/** Returns the tools that the model may call, and whether it must call one. */
const toolUseOf = (
  body: ChatBody
): Result.Result<Pick<ChatRequest, "tools" | "toolIndexes" | "toolChoice">, ModelRequestInvalid> => {
  const sentTools = body.tools ?? []
  const requestedChoice = body.tool_choice ?? "auto"
  if (sentTools.length === 0 && requestedChoice === "auto") return NO_TOOLS
  const [choice, subset] =
    typeof requestedChoice === "object" && requestedChoice.type === "allowed_tools"
      ? [requestedChoice.allowed_tools.mode, requestedChoice.allowed_tools.tools]
      : [requestedChoice, undefined]
  const allowed = new Set<string>()
  for (const [index, allowedTool] of (subset ?? []).entries()) {
    const { name } = allowedTool.function
    if (!sentTools.some((tool) => tool.function.name === name)) {
      return unknownTool(`tool_choice.allowed_tools.tools.${index}.function.name`, name)
    }
    allowed.add(name)
  }
  const toolIndexes = [...sentTools.keys()].filter(
    (index) => subset === undefined || allowed.has(sentTools[index]!.function.name)
  )
  const tools = toolIndexes.map((index): ChatTool => {
    const { description, name, parameters, strict } = sentTools[index]!.function
    return {
      name,
      description: description ?? "",
      parameters: parameters ?? undefined,
      strict: strict ?? undefined
    }
  })
  const toolUse = (toolChoice: ChatRequest["toolChoice"]) => Result.succeed({ tools, toolIndexes, toolChoice })
  if (choice === "none" || choice === "auto") return toolUse(choice)
  if (tools.length === 0) {
    return invalid("tool_choice", "Invalid value for 'tool_choice': it needs at least one tool in 'tools'")
  }
  if (choice === "required") return toolUse(choice)
  const { name } = choice.function
  return tools.some((tool) => tool.name === name) ? toolUse({ named: name }) : unknownTool("tool_choice", name)
}

export const unknownTool = (param: string, name: string) =>
  invalid(param, `Invalid value for '${param}': none of the tools is called ${JSON.stringify(name)}`)

const normaliseMessage = (message: MessageBody, path: string): Result.Result<ChatMessage, ModelRequestInvalid> => {
  // An assistant message without content takes its refusal as content.
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
    return invalid(param, `Invalid value for '${param}': a message of role tool must name the call that it answers`)
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
