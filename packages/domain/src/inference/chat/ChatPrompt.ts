/**
 * The tokens of a prompt: its texts, names, earlier tool calls, tool definitions, and the requested schema with its
 * description, as one text, plus a fixed number of tokens for each message and image.
 */
import type { ChatRequest } from "../../models/ChatRequest.ts"

/** Tokens for the frame of each message, and for the beginning of the answer. */
const TOKENS_PER_MESSAGE = 4
const TOKENS_PER_ANSWER = 3
const TOKENS_PER_IMAGE = 765
const TOKENS_PER_IMAGE_LOW_DETAIL = 85

/** Returns the text to count. */
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

/** Returns the tokens of the prompt in addition to its text. */
export const promptOverhead = (request: ChatRequest): number => {
  let tokens = TOKENS_PER_ANSWER + TOKENS_PER_MESSAGE * request.messages.length
  for (const message of request.messages) {
    for (const image of message.images)
      tokens += image.detail === "low" ? TOKENS_PER_IMAGE_LOW_DETAIL : TOKENS_PER_IMAGE
  }
  return tokens
}
