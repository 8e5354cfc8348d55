/** The failures of reading a form with files. */
import { Schema } from "effect"

export class FormTooLarge extends Schema.TaggedError<FormTooLarge>()("FormTooLarge", { limitBytes: Schema.Int }) {}

/** The form was evicted because the space for bodies or files was full, or its files could not be written to disk. */
export class FormCrowdedOut extends Schema.TaggedError<FormCrowdedOut>()("FormCrowdedOut", {}) {}

export class FormInvalid extends Schema.TaggedError<FormInvalid>()("FormInvalid", {
  reason: Schema.Literals(["no_form", "malformed", "too_much"])
}) {}

export type FormFailure = FormTooLarge | FormCrowdedOut | FormInvalid
