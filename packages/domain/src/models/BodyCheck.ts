/**
 * Decodes bodies of the inference surface against their schemas. The size of a body is checked first. A refusal names
 * the path of the first invalid field, as OpenAI's clients expect it.
 */
import { Exit, Result, Schema } from "effect"
import * as SchemaJITCompiler from "effect/schema/SchemaJITCompiler"
import { issuesOf, pathText } from "../requests/BodyIssues.ts"
import { cutText } from "../requests/LoneSurrogates.ts"
import { ModelRequestInvalid } from "./InferenceErrors.ts"
import { MAX_DEPTH, MAX_VALUES, tooLarge } from "./JsonText.ts"

/** Characters of a message at most: a message may quote the caller's text. */
const MAX_MESSAGE = 300

/**
 * Compiles the decoder at its first use, which makes a check three times as fast. Only the interpreter finds the issues
 * of an invalid body.
 */
const decoderOf = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => {
  SchemaJITCompiler.enable(schema.ast)
  return Schema.decodeUnknownExit(schema)
}

/**
 * Returns a decoder of parsed JSON bodies; it ignores unknown fields. With `numbers` "free", numbers in lists do not
 * count as values, because their text was bounded before.
 */
export const bodyDecoder = <S extends Schema.ConstraintDecoder<unknown>>(
  schema: S,
  numbers: "values" | "free" = "values"
) => {
  const decode = decoderOf(schema)
  return (body: unknown): Result.Result<S["Type"], ModelRequestInvalid> => {
    if (valuesLeft(body, MAX_DEPTH, MAX_VALUES, numbers === "free") < 0) {
      return Result.fail(tooLarge(firstFieldBeyond(body, numbers === "free")))
    }
    const exit = decode(body)
    return Exit.isSuccess(exit) ? Result.succeed(exit.value) : Result.fail(invalidFrom(exit, body))
  }
}

/** Returns a decoder of one value within a body whose size was checked before. `path`: the position of the value. */
export const partDecoder = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => {
  const decode = decoderOf(schema)
  return (value: unknown, path: string): Result.Result<S["Type"], ModelRequestInvalid> => {
    const exit = decode(value)
    return Exit.isSuccess(exit) ? Result.succeed(exit.value) : Result.fail(invalidFrom(exit, value, [path]))
  }
}

export const invalid = (param: string | null, message: string, code: string | null = null) =>
  Result.fail(new ModelRequestInvalid({ message: cutText(message, MAX_MESSAGE), param, code }))

const invalidFrom = (
  exit: Exit.Exit<unknown, Schema.SchemaError>,
  body: unknown,
  within: ReadonlyArray<string> = []
): ModelRequestInvalid => {
  const error = Exit.findErrorOption(exit)
  const issues = error._tag === "Some" ? issuesOf(error.value.issue, body, within) : []
  // A union reports the issues of every alternative. The alternative with the deepest issue is most likely the one that
  // the caller meant.
  const depth = Math.max(0, ...issues.map(({ path }) => path.length))
  const deepest = issues.filter(({ path }) => path.length === depth)
  const path = deepest[0]?.path ?? within
  const param = path.length === 0 ? null : pathText(path)
  const text = [...new Set(deepest.map(({ message }) => message))].join(" or ")
  const message = param === null ? `The body must be a JSON object: ${text}` : `Invalid value for '${param}': ${text}`
  return new ModelRequestInvalid({ message: cutText(message, MAX_MESSAGE), param, code: null })
}

/** Returns the first field with which the body has too many values; empty if that field is no list and no object. */
const firstFieldBeyond = (body: unknown, isFree: boolean): string => {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return ""
  let left = MAX_VALUES - 1
  for (const [name, inner] of Object.entries(body)) {
    left = valuesLeft(inner, MAX_DEPTH - 1, left, isFree)
    if (left < 0) return typeof inner === "object" ? name : ""
  }
  return ""
}

/** Returns `budget` less the number of values in `value`; below zero if there are too many or they nest too deep. */
const valuesLeft = (value: unknown, depth: number, budget: number, isFree: boolean): number => {
  if (typeof value !== "object" || value === null) return budget - 1
  if (depth === 0) return -1
  let rest = budget - 1
  const isList = Array.isArray(value)
  for (const inner of isList ? value : Object.values(value)) {
    if (isFree && isList && typeof inner === "number") continue
    rest = valuesLeft(inner, depth - 1, rest, isFree)
    if (rest < 0) return rest
  }
  return rest
}
