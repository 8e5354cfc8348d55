/** Why a form with files is not read. */
import { Data } from "effect"

export class FormTooLarge extends Data.TaggedError("FormTooLarge")<{ readonly limitBytes: number }> {}

/** It gave way to others, or the disk takes no more. */
export class FormCrowdedOut extends Data.TaggedError("FormCrowdedOut")<{}> {}

export class FormInvalid extends Data.TaggedError("FormInvalid")<{
  readonly reason: "no_form" | "malformed" | "too_much"
}> {}

export type FormFailure = FormTooLarge | FormCrowdedOut | FormInvalid
