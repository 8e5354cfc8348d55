/**
 * What of a question is counted as its prompt: texts, names, earlier tool calls, tool definitions, the asked-for schema and its
 * description, as one text, plus a fixed number of tokens for each message and image.
 */
import type { ChatRequest } from "../../models/ChatRequest.ts"

/** Tokens that frame each message, and the answer's beginning. */
const TOKENS_PER_MESSAGE = 4
const TOKENS_PER_ANSWER = 3
const TOKENS_PER_IMAGE = 765
const TOKENS_PER_IMAGE_LOW_DETAIL = 85

/** The text to count. */
export const promptText = (request: ChatRequest): string => {
  const parts: Array<string> = []
  for (const message of request.messages) {
    parts.push(message.text)
    if (message.name !== undefined) parts.push(message.name)
    if (message.toolCalls !== undefined) parts.push(message.toolCalls)
  }
  if (request.tools.length > 0) parts.push(JSON.stringify(request.tools))
  const { responseFormat: format } = request
  if (format.type === "json_schema") {
    if (format.description !== undefined) parts.push(format.description)
    parts.push(JSON.stringify(format.schema))
  }
  return parts.join("\n")
}

/** Tokens of the prompt beside its text. */
export const promptOverhead = (request: ChatRequest): number => {
  let tokens = TOKENS_PER_ANSWER + TOKENS_PER_MESSAGE * request.messages.length
  for (const message of request.messages) {
    for (const image of message.images)
      tokens += image.detail === "low" ? TOKENS_PER_IMAGE_LOW_DETAIL : TOKENS_PER_IMAGE
  }
  return tokens
}
