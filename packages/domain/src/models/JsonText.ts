/**
 * A body's JSON text: parsed, or refused before that where parsing would hold everybody up. It is long strings, as of images,
 * that bodies are large for; they take no time. Millions of small values do.
 */
import { Result } from "effect"
import { fieldBeyond } from "../requests/JsonBounds.ts"
import { ModelRequestInvalid } from "./InferenceErrors.ts"

/** How deep a body may nest and how many values it may have: parsing, checking and rendering it must stay short. */
export const MAX_DEPTH = 64
export const MAX_VALUES = 100_000
const TOO_LARGE = `nests deeper than ${MAX_DEPTH} levels or has more than ${MAX_VALUES} values`
/** Characters: a longer name is of no field that is known. */
const MAX_FIELD_NAME = 64

/** Texts below are parsed in no time, whatever they are. */
const SMALL_TEXT = 131_072

/** `numbers`: how many numbers in lists it may have beside its values; 0: none. */
export const parsedJson = (text: string, numbers = 0): Result.Result<unknown, ModelRequestInvalid> => {
  const bounds = { depth: MAX_DEPTH, values: MAX_VALUES, numbers }
  const field = text.length > SMALL_TEXT ? fieldBeyond(text, bounds) : undefined
  if (field !== undefined) return Result.fail(tooLarge(field))
  try {
    return Result.succeed(JSON.parse(text))
  } catch {
    return Result.fail(notJson())
  }
}

/** `field`: of the body, in which it goes beyond its bounds; empty: between its fields. */
export const tooLarge = (field: string): ModelRequestInvalid =>
  field === "" || field.length > MAX_FIELD_NAME
    ? new ModelRequestInvalid({ message: `The body ${TOO_LARGE}`, param: null, code: null })
    : new ModelRequestInvalid({ message: `Invalid value for '${field}': it ${TOO_LARGE}`, param: field, code: null })

export const notJson = () =>
  new ModelRequestInvalid({ message: "The body must be JSON in UTF-8.", param: null, code: "invalid_json" })
