/**
 * Maps failures of reading a body, JSON or a form, to failures of the inference surface, in the form of OpenAI's
 * clients.
 */
import { BodyCrowdedOut, BodyTooLarge } from "@sluice/api/inference/EdgeFailures"
import type { InferenceFailure } from "@sluice/api/inference/InferenceErrorTable"
import { FileTooLarge, ModelRequestInvalid } from "@sluice/domain/models/InferenceErrors"
import { notJson } from "@sluice/domain/models/JsonText"
import { BodyEncoded } from "../http/BoundedBody.ts"
import type { FormFailure } from "../http/FormErrors.ts"

/** The failure of a body that could not be read as text. */
export const toBodyFailure = (error: unknown): InferenceFailure =>
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
        : new ModelRequestInvalid({ message: FORM_MESSAGES[error.reason], param: null, code: "invalid_form" })

const FORM_MESSAGES = {
  no_form: "The body must be a form with a file: send it as multipart/form-data.",
  malformed: "The body is not well-formed multipart/form-data.",
  too_much: "The form has too many parts, or a field is too long."
} as const
