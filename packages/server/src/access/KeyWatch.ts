/**
 * Answers that take long end with their key: one that was deactivated or deleted opens nothing any more, nor keeps it open
 * (decisions: within 1 s). One look at a key serves all its answers; what is not sure, as without a database, ends nothing.
 */
import { Access } from "@sluice/domain/access/Access"
import type { KeyInvalid } from "@sluice/domain/access/AccessErrors"
import { withAbort } from "@sluice/domain/runtime/Abortable"
import { Context, Duration, Effect, Exit, Layer, Schedule } from "effect"
import { inWallTime } from "../clock/WallTime.ts"

const LOOK_EVERY = Duration.millis(500)
const LOOKS_AT_ONCE = 8

interface Watcher {
  readonly end: (error: KeyInvalid) => void
  readonly beat: (() => void) | undefined
}

export class KeyWatch extends Context.Service<
  KeyWatch,
  {
    /** Fails once this key is valid no more; waits until then. */
    readonly gone: (bearer: string | undefined) => Effect.Effect<never, KeyInvalid>
    /** Ends the work once this key is valid no more, and calls `beat` at each look meanwhile. */
    readonly during: <A, E, R>(
      bearer: string | undefined,
      work: Effect.Effect<A, E, R>,
      beat: () => void
    ) => Effect.Effect<A, E | KeyInvalid, R>
  }
>()("@sluice/server/access/KeyWatch") {
  static readonly layer = Layer.effect(
    KeyWatch,
    Effect.gen(function* () {
      const access = yield* Access
      const watched = new Map<string, Set<Watcher>>()
      const beatAll = Effect.sync(() => {
        for (const watchers of watched.values()) for (const { beat } of watchers) beat?.()
      })
      const look = (bearer: string) =>
        Effect.map(Effect.exit(access.authenticate(bearer, undefined)), (exit) => {
          const error = Exit.findErrorOption(exit)
          if (error._tag === "None" || error.value._tag !== "KeyInvalid") return
          for (const { end } of watched.get(bearer) ?? []) end(error.value)
        })
      const everyLook = (effect: Effect.Effect<void>) =>
        effect.pipe(Effect.repeat(Schedule.spaced(LOOK_EVERY)), inWallTime, Effect.forkScoped)
      yield* everyLook(beatAll)
      // A database that is silent holds up what is said of keys, not the beat.
      yield* everyLook(
        Effect.suspend(() => Effect.forEach(watched.keys(), look, { concurrency: LOOKS_AT_ONCE, discard: true }))
      )

      const watch = (bearer: string, watcher: Watcher) => {
        const watchers = watched.get(bearer) ?? new Set()
        watched.set(bearer, watchers.add(watcher))
        return () => {
          watchers.delete(watcher)
          if (watchers.size === 0 && watched.get(bearer) === watchers) watched.delete(bearer)
        }
      }

      return KeyWatch.of({
        gone: (bearer) =>
          bearer === undefined
            ? Effect.never
            : Effect.callback<never, KeyInvalid>((resume) =>
                Effect.sync(watch(bearer, { end: (error) => resume(Effect.fail(error)), beat: undefined }))
              ),
        during: (bearer, work, beat) =>
          bearer === undefined ? work : withAbort(work, (end) => watch(bearer, { end, beat }))
      })
    })
  )
}
