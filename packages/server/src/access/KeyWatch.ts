/**
 * Answers that take long end with their key: one that was deactivated or deleted opens nothing any more, nor keeps it open
 * (decisions: within 1 s). One look at a key serves all its answers; what is not sure, as without a database, ends nothing.
 */
import { Access } from "@sluice/domain/access/Access"
import type { KeyInvalid } from "@sluice/domain/access/AccessErrors"
import { Context, Duration, Effect, Exit, Layer, Schedule } from "effect"
import { inWallTime } from "../http/WallTime.ts"

const LOOK_EVERY = Duration.millis(500)
const LOOKS_AT_ONCE = 8

type End = (error: KeyInvalid) => void

export class KeyWatch extends Context.Service<
  KeyWatch,
  {
    /** Fails once this key is valid no more; waits until then. */
    readonly gone: (bearer: string | undefined) => Effect.Effect<never, KeyInvalid>
  }
>()("@sluice/server/access/KeyWatch") {
  static readonly layer = Layer.effect(
    KeyWatch,
    Effect.gen(function* () {
      const access = yield* Access
      const watched = new Map<string, Set<End>>()
      const look = (bearer: string) =>
        Effect.map(Effect.exit(access.authenticate(bearer, undefined)), (exit) => {
          const error = Exit.findErrorOption(exit)
          if (error._tag === "None" || error.value._tag !== "KeyInvalid") return
          for (const end of watched.get(bearer) ?? []) end(error.value)
        })
      yield* Effect.suspend(() =>
        Effect.forEach(watched.keys(), look, { concurrency: LOOKS_AT_ONCE, discard: true })
      ).pipe(Effect.repeat(Schedule.spaced(LOOK_EVERY)), inWallTime, Effect.forkScoped)

      return KeyWatch.of({
        gone: (bearer) =>
          bearer === undefined
            ? Effect.never
            : Effect.callback<never, KeyInvalid>((resume) => {
                const end: End = (error) => resume(Effect.fail(error))
                const ends = watched.get(bearer) ?? new Set()
                watched.set(bearer, ends.add(end))
                return Effect.sync(() => {
                  ends.delete(end)
                  if (ends.size === 0 && watched.get(bearer) === ends) watched.delete(bearer)
                })
              })
      })
    })
  )
}
