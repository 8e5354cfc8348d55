/**
 * Bounds the number and depth of values in a body of the infrastructure surface before it is parsed. Each value may
 * become an issue of its own, and the values of a body of 1 MiB would block the event loop while their issues are
 * built.
 */
import type { WireError } from "@sluice/api/infra/WireError"
import { invalid } from "@sluice/api/infra/WireError"
import { fieldBeyond } from "@sluice/domain/requests/JsonBounds"
import { Effect, Schema } from "effect"

/** More than twice the values of the largest job: 200 variables, 16 labels and each other field. */
const BOUNDS = { depth: 64, values: 500 }
/** Characters of a field's name that the error repeats. */
const SHOWN_CHARACTERS = 64

/** `path`: the field with too many values; empty where the fields together have too many. */
export class BodyTooFull extends Schema.TaggedError<BodyTooFull>()("BodyTooFull", { path: Schema.String }) {}

export const boundValues = <E>(text: Effect.Effect<string, E>): Effect.Effect<string, E | BodyTooFull> =>
  Effect.flatMap(text, (text) => {
    const path = fieldBeyond(text, BOUNDS)
    return path === undefined ? Effect.succeed(text) : Effect.fail(new BodyTooFull({ path }))
  })

export const bodyTooFull = ({ path }: BodyTooFull): WireError =>
  invalid([
    {
      path: path.slice(0, SHOWN_CHARACTERS),
      message: `must be smaller: a body may have at most ${BOUNDS.values} values in total and ${BOUNDS.depth} levels of nesting`
    }
  ])
