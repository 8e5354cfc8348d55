/**
 * Parses the JSON text of a body, or refuses it before that if parsing would block the event loop. Large bodies are
 * normally long strings (images), which parse fast; millions of small values do not.
 */
import { Result } from "effect"
import { pathText } from "../requests/BodyIssues.ts"
import { findFieldBeyondBounds } from "../requests/JsonBounds.ts"
import { LONE_SURROGATE, loneSurrogates } from "../requests/LoneSurrogates.ts"
import { ModelRequestInvalid } from "./InferenceErrors.ts"

/**
 * Maximum depth and number of values of a body. Higher values make parsing, checking and rendering it block the event
 * loop for longer.
 */
export const MAX_DEPTH = 64
export const MAX_VALUES = 100_000
const TOO_LARGE = `nests deeper than ${MAX_DEPTH} levels or has more than ${MAX_VALUES} values`
/** Characters. No known field has a longer name. */
const MAX_FIELD_NAME = 64

/** Characters below which any text parses fast, so its bounds are not checked here. */
const MAX_UNCHECKED_LENGTH = 131_072

/** Returns the parsed text. `numbers`: how many numbers in lists it may have in addition to its values. */
export const parseJson = (text: string, numbers = 0): Result.Result<unknown, ModelRequestInvalid> => {
  const bounds = { depth: MAX_DEPTH, values: MAX_VALUES, numbers }
  const field = text.length > MAX_UNCHECKED_LENGTH ? findFieldBeyondBounds(text, bounds) : undefined
  if (field !== undefined) return Result.fail(tooLarge(field))
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return Result.fail(notJson())
  }
  const [path] = loneSurrogates(text, body, 1)
  return path === undefined ? Result.succeed(body) : Result.fail(illFormed(path))
}

const illFormed = (path: ReadonlyArray<string>) => {
  const param = path.length === 0 ? null : pathText(path)
  const where = param === null ? "The body" : `Invalid value for '${param}': it`
  return new ModelRequestInvalid({ message: `${where} ${LONE_SURROGATE}`, param, code: null })
}

/** `field` is the field of the body that exceeds the bounds; empty if no single field does. */
export const tooLarge = (field: string): ModelRequestInvalid =>
  field === "" || field.length > MAX_FIELD_NAME
    ? new ModelRequestInvalid({ message: `The body ${TOO_LARGE}`, param: null, code: null })
    : new ModelRequestInvalid({ message: `Invalid value for '${field}': it ${TOO_LARGE}`, param: field, code: null })

export const notJson = () =>
  new ModelRequestInvalid({ message: "The body must be JSON in UTF-8.", param: null, code: "invalid_json" })
