/** A name that a caller chooses: one line of 1 to 63 characters. */
import { Schema } from "effect"
import { LONE_SURROGATE } from "./LoneSurrogates.ts"

const MAX_NAME = 63
const rule = { message: `must be a text of 1 to ${MAX_NAME} characters` }

const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u
const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/
/** White space, and characters that are drawn as nothing. */
const UNSEEN = /^[\p{White_Space}\p{Default_Ignorable_Code_Point}\u2800]+$/u

/**
 * Returns the first mistake that keeps a text from being one visible line; undefined if there is none. The empty text
 * has none.
 */
const lineIssue = (text: string): string | undefined => {
  if (CONTROL.test(text)) return "must not contain control characters"
  if (DIRECTION.test(text)) return "must not contain characters that change the direction of text, like U+202E"
  if (!text.isWellFormed()) return LONE_SURROGATE
  return UNSEEN.test(text) ? "must not be only blanks" : undefined
}

/** Refuses text that is not one visible line. For fields with their own length bounds. */
export const visibleLine = Schema.makeFilter(lineIssue)

/** Returns the mistake in a name; undefined if there is none. */
export const nameIssue = (text: string): string | undefined =>
  text === "" || [...text].length > MAX_NAME ? rule.message : lineIssue(text)

/** A name: one visible line of 1 to 63 characters. */
export const Name = Schema.String.annotate(rule).check(
  Schema.isNonEmpty(rule),
  Schema.isMaxCodePoints(MAX_NAME, rule),
  visibleLine
)
