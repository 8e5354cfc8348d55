/**
 * Bounds the number and depth of values in a body of the infrastructure surface before it is parsed. Each value may
 * become an issue of its own, and the values of a body of 1 MiB would block the event loop while their issues are
 * built. It refuses lone surrogates, too.
 */
import type { WireError } from "@sluice/api/infra/WireError"
import { invalid } from "@sluice/api/infra/WireError"
import { type Issue, pathText } from "@sluice/domain/requests/BodyIssues"
import { findFieldBeyondBounds } from "@sluice/domain/requests/JsonBounds"
import { cutText, LONE_SURROGATE, loneSurrogates } from "@sluice/domain/requests/LoneSurrogates"
import { Effect, Schema } from "effect"

/** More than twice the values of the largest job: 200 variables, 16 labels and each other field. */
const BOUNDS = { depth: 64, values: 500 }
/** Characters of a field's name that the error repeats. */
const SHOWN_CHARACTERS = 64

/** The body is refused before its endpoint reads it. */
export class BodyRefused extends Schema.TaggedError<BodyRefused>()("BodyRefused", {
  issues: Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String }))
}) {}

export const checkBody = <E>(text: Effect.Effect<string, E>): Effect.Effect<string, E | BodyRefused> =>
  Effect.flatMap(text, (text) => {
    const path = findFieldBeyondBounds(text, BOUNDS)
    const issues = path === undefined ? surrogateIssues(text) : [sizeIssue(path)]
    return issues.length === 0 ? Effect.succeed(text) : Effect.fail(new BodyRefused({ issues }))
  })

/** `path`: the field with too many values; empty where the fields together have too many. */
const sizeIssue = (path: string): Issue => ({
  path: cutText(path, SHOWN_CHARACTERS),
  message: `must be smaller: a body may have at most ${BOUNDS.values} values in total and ${BOUNDS.depth} levels of nesting`
})

const surrogateIssues = (text: string): ReadonlyArray<Issue> =>
  // Only an escape can spell one.
  text.includes("\\u")
    ? loneSurrogates(text, parseOrUndefined(text), BOUNDS.values).map((path) => ({
        path: pathText(path),
        message: LONE_SURROGATE
      }))
    : []

/** Returns undefined for a text that is no JSON: the endpoint refuses it. */
const parseOrUndefined = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const bodyRefused = ({ issues }: BodyRefused): WireError => invalid(issues)
