/**
 * Bodies of the inference surface against their schemas: bounded before they are looked at, and refused with the path of
 * the first field that is wrong, as OpenAI's clients show it.
 */
import { Exit, Result, Schema } from "effect"
import * as SchemaJITCompiler from "effect/schema/SchemaJITCompiler"
import { issuesOf } from "../requests/BodyIssues.ts"
import { ModelRequestInvalid } from "./InferenceErrors.ts"
import { MAX_DEPTH, MAX_VALUES, tooLarge } from "./JsonText.ts"

/** Message texts of issues are cut here: they may repeat what the caller sent. */
const MAX_MESSAGE = 300

/** Compiled where it is first used: a body is checked in a third of the time. What is wrong is found by the interpreter. */
const decoderOf = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => {
  SchemaJITCompiler.enable(schema.ast)
  return Schema.decodeUnknownExit(schema)
}

/** A check of parsed JSON bodies; unknown fields are ignored. `numbers`: those in lists are no values, their text was bounded. */
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

/** A check of one value within a body that was bounded before; `path` is where it stands. */
export const partDecoder = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => {
  const decode = decoderOf(schema)
  return (value: unknown, path: string): Result.Result<S["Type"], ModelRequestInvalid> => {
    const exit = decode(value)
    return Exit.isSuccess(exit) ? Result.succeed(exit.value) : Result.fail(invalidFrom(exit, value, [path]))
  }
}

export const invalid = (param: string | null, message: string, code: string | null = null) =>
  Result.fail(new ModelRequestInvalid({ message: message.slice(0, MAX_MESSAGE), param, code }))

const invalidFrom = (
  exit: Exit.Exit<unknown, Schema.SchemaError>,
  sent: unknown,
  within: ReadonlyArray<string> = []
): ModelRequestInvalid => {
  const error = Exit.findErrorOption(exit)
  const issues = error._tag === "Some" ? issuesOf(error.value.issue, sent, within) : []
  // Of the alternatives of a union, the one that went deepest is the one that was meant.
  const depth = Math.max(0, ...issues.map(({ path }) => path.length))
  const deepest = issues.filter(({ path }) => path.length === depth)
  const path = deepest[0]?.path ?? within
  const param = path.length === 0 ? null : path.join(".")
  const text = [...new Set(deepest.map(({ message }) => message))].join(" or ")
  const message = param === null ? `The body must be a JSON object: ${text}` : `Invalid value for '${param}': ${text}`
  return new ModelRequestInvalid({ message: message.slice(0, MAX_MESSAGE), param, code: null })
}

/** The first field with which the values are too many; empty: it is no list and no object. */
const firstFieldBeyond = (body: unknown, free: boolean): string => {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return ""
  let left = MAX_VALUES - 1
  for (const [name, inner] of Object.entries(body)) {
    left = valuesLeft(inner, MAX_DEPTH - 1, left, free)
    if (left < 0) return typeof inner === "object" ? name : ""
  }
  return ""
}

/** What of `budget` is left after counting a value and all in it; below zero: too many, or nested too deep. */
const valuesLeft = (value: unknown, depth: number, budget: number, free: boolean): number => {
  if (typeof value !== "object" || value === null) return budget - 1
  if (depth === 0) return -1
  let left = budget - 1
  const isList = Array.isArray(value)
  for (const inner of isList ? value : Object.values(value)) {
    if (free && isList && typeof inner === "number") continue
    left = valuesLeft(inner, depth - 1, left, free)
    if (left < 0) return left
  }
  return left
}
