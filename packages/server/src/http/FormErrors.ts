/** Why a form with files is not read. */
import { Data } from "effect"

export class FormTooLarge extends Data.TaggedError("FormTooLarge")<{ readonly limitBytes: number }> {}

export class FormInvalid extends Data.TaggedError("FormInvalid")<{
  readonly reason: "no_form" | "malformed" | "too_much"
}> {}
