/** A name that a caller chooses: one line of 1 to 63 characters. */
import { Schema } from "effect"
import { LONE_SURROGATE } from "./LoneSurrogates.ts"

const MAX_NAME = 63
const rule = { message: `must be a text of 1 to ${MAX_NAME} characters` }

const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u
const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/
/** Blanks, and what is drawn as nothing. */
const UNSEEN = /^[\p{White_Space}\p{Default_Ignorable_Code_Point}\u2800]+$/u

/** What keeps a text from being such a line; undefined: nothing. The empty text is one. */
const lineIssue = (text: string): string | undefined => {
  if (CONTROL.test(text)) return "must not contain control characters"
  if (DIRECTION.test(text)) return "must not contain characters that change the direction of text, like U+202E"
  if (!text.isWellFormed()) return LONE_SURROGATE
  return UNSEEN.test(text) ? "must not be only blanks" : undefined
}

/** The check of a line, for texts that have bounds of their own. */
export const visibleLine = Schema.makeFilter(lineIssue)

/** What is wrong with a name; undefined: nothing. */
export const nameIssue = (text: string): string | undefined =>
  text === "" || [...text].length > MAX_NAME ? rule.message : lineIssue(text)

/** A name that people give: such a line of 1 to 63 characters. */
export const Name = Schema.String.annotate(rule).check(
  Schema.isNonEmpty(rule),
  Schema.isMaxCodePoints(MAX_NAME, rule),
  visibleLine
)
