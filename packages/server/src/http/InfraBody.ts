/**
 * The text of a body of the infrastructure surface, bounded before anybody parses it: each value may be an issue of its own,
 * and the many that a megabyte has room for would hold everybody up while they are told.
 */
import type { WireError } from "@sluice/api/infra/WireError"
import { invalid } from "@sluice/api/infra/WireError"
import { fieldBeyond } from "@sluice/domain/requests/JsonBounds"
import { Data, Effect } from "effect"

/** More than twice what a job has that leaves nothing out: 200 variables, 16 labels, each other field. */
const BOUNDS = { depth: 64, values: 500 }
/** How much of a field's name is named in an answer. */
const SHOWN_CHARACTERS = 64

/** `path`: the field that is too full; empty where all of them together are. */
export class BodyTooFull extends Data.TaggedError("BodyTooFull")<{ readonly path: string }> {}

export const bounded = <E>(text: Effect.Effect<string, E>): Effect.Effect<string, E | BodyTooFull> =>
  Effect.flatMap(text, (text) => {
    const path = fieldBeyond(text, BOUNDS)
    return path === undefined ? Effect.succeed(text) : Effect.fail(new BodyTooFull({ path }))
  })

export const bodyTooFull = ({ path }: BodyTooFull): WireError =>
  invalid([
    {
      path: path.slice(0, SHOWN_CHARACTERS),
      message: `must be smaller: a body has at most ${BOUNDS.values} values in all, and ${BOUNDS.depth} levels`
    }
  ])
