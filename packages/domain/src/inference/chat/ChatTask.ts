/** Whether a request fits its model, and what of it does: pure rules, before anything is reserved. */
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
  /** Tokens that each choice may have. */
  readonly allowed: number
}

/** Why the model can't see the images of a request; undefined: it can, or there are none. */
export const imagesRefused = (model: Model, request: ChatRequest) => {
  const index = model.vision ? -1 : request.messages.findIndex((message) => message.images.length > 0)
  return index < 0
    ? undefined
    : { param: `messages.${index}.content`, message: `The model ${model.id} does not take images` }
}

/** Clamps the answer to the model and to what the context leaves. A count beyond the context may have stopped there. */
export const fit = (
  model: Model,
  request: ChatRequest,
  counted: number
): Effect.Effect<ChatTask, ModelRequestInvalid> => {
  const promptTokens = counted + promptOverhead(request)
  const left = model.contextLength - promptTokens
  if (left < 1) {
    // Clients know by these first words that they are to shorten what they send.
    const message = `This model's maximum context length is ${model.contextLength} tokens. However, your messages have more; shorten them`
    return Effect.fail(new ModelRequestInvalid({ message, param: "messages", code: "context_length_exceeded" }))
  }
  const allowed = Math.min(request.maxTokens ?? model.maxOutputTokens, model.maxOutputTokens, left)
  return Effect.succeed({ model, request: { ...request, maxTokens: allowed }, promptTokens, allowed })
}
