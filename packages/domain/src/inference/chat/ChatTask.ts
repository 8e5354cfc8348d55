/** Pure rules that decide whether a request fits its model, before money is reserved. */
import { Effect } from "effect"
import type { ChatRequest } from "../../models/ChatRequest.ts"
import { promptOverhead } from "./ChatPrompt.ts"
import { ModelRequestInvalid } from "../../models/InferenceErrors.ts"
import type { Model } from "../../models/ModelProvider.ts"

/** A request that fits its model. */
export interface ChatTask {
  readonly model: Model
  readonly request: ChatRequest
  readonly promptTokens: number
  /** Maximum tokens of each choice. */
  readonly allowed: number
}

/** Returns why the model cannot see the request's images; undefined if it can, or if there are none. */
export const findImageRefusal = (model: Model, request: ChatRequest) => {
  const index = model.vision ? -1 : request.messages.findIndex((message) => message.images.length > 0)
  return index < 0
    ? undefined
    : { param: `messages.${index}.content`, message: `The model ${model.id} does not take images` }
}

/**
 * Limits the answer to the model's maximum and to the rest of the context. `counted` may be any number above the
 * context length, because the count stops there. Fails if the prompt leaves no room for an answer.
 */
export const fit = (
  model: Model,
  request: ChatRequest,
  counted: number
): Effect.Effect<ChatTask, ModelRequestInvalid> => {
  const promptTokens = counted + promptOverhead(request)
  const rest = model.contextLength - promptTokens
  if (rest < 1) {
    // Clients recognise this mistake by these first words, and shorten the conversation.
    const message = `This model's maximum context length is ${model.contextLength} tokens. However, your messages have more; shorten them`
    return Effect.fail(new ModelRequestInvalid({ message, param: "messages", code: "context_length_exceeded" }))
  }
  const allowed = Math.min(request.maxTokens ?? model.maxOutputTokens, model.maxOutputTokens, rest)
  return Effect.succeed({ model, request: { ...request, maxTokens: allowed }, promptTokens, allowed })
}
