/** The failures of reading a form with files. */
import { Data } from "effect"

export class FormTooLarge extends Data.TaggedError("FormTooLarge")<{ readonly limitBytes: number }> {}

/** The form was evicted because the space for bodies or files was full, or its files could not be written to disk. */
export class FormCrowdedOut extends Data.TaggedError("FormCrowdedOut")<{}> {}

export class FormInvalid extends Data.TaggedError("FormInvalid")<{
  readonly reason: "no_form" | "malformed" | "too_much"
}> {}

export type FormFailure = FormTooLarge | FormCrowdedOut | FormInvalid
