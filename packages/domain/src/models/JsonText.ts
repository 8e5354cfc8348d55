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
export const TOO_LARGE = `The body nests deeper than ${MAX_DEPTH} levels or has more than ${MAX_VALUES} values`

/** Characters below which any text parses fast, so its bounds are not checked here. */
const MAX_UNCHECKED_LENGTH = 131_072

/** Returns the parsed text. `numbers`: how many numbers in lists it may have in addition to its values. */
export const parseJson = (text: string, numbers = 0): Result.Result<unknown, ModelRequestInvalid> => {
  if (
    text.length > MAX_UNCHECKED_LENGTH &&
    findFieldBeyondBounds(text, { depth: MAX_DEPTH, values: MAX_VALUES, numbers }) !== undefined
  ) {
    return Result.fail(new ModelRequestInvalid({ message: TOO_LARGE, param: null, code: null }))
  }
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

export const notJson = () =>
  new ModelRequestInvalid({ message: "The body must be JSON in UTF-8.", param: null, code: "invalid_json" })
