/**
 * A body's JSON text: parsed, or refused before that where parsing would hold everybody up. It is long strings, as of images,
 * that bodies are large for; they take no time. Millions of small values do.
 */
import { Result } from "effect"
import { pathText } from "../requests/BodyIssues.ts"
import { fieldBeyond } from "../requests/JsonBounds.ts"
import { LONE_SURROGATE, loneSurrogates } from "../requests/LoneSurrogates.ts"
import { ModelRequestInvalid } from "./InferenceErrors.ts"

/** How deep a body may nest and how many values it may have: parsing, checking and rendering it must stay short. */
export const MAX_DEPTH = 64
export const MAX_VALUES = 100_000
export const TOO_LARGE = `The body nests deeper than ${MAX_DEPTH} levels or has more than ${MAX_VALUES} values`

/** Texts below are parsed in no time, whatever they are. */
const SMALL_TEXT = 131_072

/** `numbers`: how many numbers in lists it may have beside its values; 0: none. */
export const parsedJson = (text: string, numbers = 0): Result.Result<unknown, ModelRequestInvalid> => {
  if (text.length > SMALL_TEXT && fieldBeyond(text, { depth: MAX_DEPTH, values: MAX_VALUES, numbers }) !== undefined) {
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
