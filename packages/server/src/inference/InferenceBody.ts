/** Bodies of the inference surface as parsed JSON, or the refusal that OpenAI's clients understand. */
import type { InferenceFailure } from "@sluice/api/inference/InferenceErrors"
import { ChatInvalid } from "@sluice/domain/inference/InferenceErrors"
import { Result } from "effect"
import { BodyTooLarge } from "../http/BoundedBody.ts"

/** The body was bounded and decoded before. */
export const unread = (error: unknown): InferenceFailure =>
  error instanceof BodyTooLarge ? { _tag: "BodyTooLarge", limitBytes: error.limit } : notJson()

export const parseJson = (text: string): Result.Result<unknown, ChatInvalid> => {
  try {
    return Result.succeed(JSON.parse(text))
  } catch {
    return Result.fail(notJson())
  }
}

const notJson = () => new ChatInvalid({ message: "The body must be JSON in UTF-8.", param: null, code: "invalid_json" })
