/**
 * Maps failures of reading a body, JSON or a form, to failures of the inference surface, in the form of OpenAI's
 * clients.
 */
import { BodyCrowdedOut, BodyTooLarge } from "@sluice/api/inference/EdgeFailures"
import type { InferenceFailure } from "@sluice/api/inference/InferenceErrorTable"
import { FileTooLarge, ModelRequestInvalid } from "@sluice/domain/models/InferenceErrors"
import { notJson } from "@sluice/domain/models/JsonText"
import { exitIfSettled } from "@sluice/domain/runtime/SyncFastPath"
import { Effect, Exit } from "effect"
import type { IncomingMessage } from "node:http"
import { BodyEncoded } from "../http/BoundedBody.ts"
import type { FormFailure } from "../http/FormErrors.ts"

/** Reads a JSON body. It refuses every type but JSON and none, because pages of other sites can send those without asking. */
export const jsonText = (
  { headers }: IncomingMessage,
  text: Effect.Effect<string, unknown>
): Effect.Effect<string, InferenceFailure> => {
  const type = headers["content-type"]
  if (type !== undefined && type !== "" && !JSON_TYPE.test(type)) return Effect.fail(notJsonType)
  const read = exitIfSettled(text)
  return read !== undefined && Exit.isSuccess(read) ? Effect.succeed(read.value) : Effect.mapError(text, toBodyFailure)
}

const JSON_TYPE = /^application\/(?:[\w.!#$&^-]+\+)?json\s*(?:;|$)/i
const notJsonType = new ModelRequestInvalid({
  message: "The body must be JSON: send it with Content-Type: application/json.",
  param: null,
  code: "unsupported_content_type"
})

/** The failure of a body that could not be read as text. */
const toBodyFailure = (error: unknown): InferenceFailure =>
  error instanceof BodyTooLarge || error instanceof BodyCrowdedOut
    ? error
    : error instanceof BodyEncoded
      ? new ModelRequestInvalid({ message: ENCODED, param: null, code: "invalid_encoding" })
      : notJson()

const ENCODED = "Send the body uncompressed, without Content-Encoding."

/** The failure of a form. `param`: the field that holds the file. */
export const toFormFailure =
  (param: string) =>
  (error: FormFailure): InferenceFailure =>
    error._tag === "FormTooLarge"
      ? new FileTooLarge({ param, limitBytes: error.limitBytes })
      : error._tag === "FormCrowdedOut"
        ? new BodyCrowdedOut()
        : new ModelRequestInvalid({
            message: FORM_MESSAGES[error.reason],
            param: null,
            code: error.reason === "no_form" ? "unsupported_content_type" : "invalid_form"
          })

const FORM_MESSAGES = {
  no_form: "The body must be a form with a file: send it as multipart/form-data.",
  malformed: "The body is not well-formed multipart/form-data.",
  too_much: "The form has too many parts, or a field is too long."
} as const
