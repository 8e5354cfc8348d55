/**
 * Ends long responses when their key is deactivated or deleted (decisions: within 1 s). One check of a key serves all
 * its responses. A check without a certain result, such as during a database outage, ends nothing.
 */
import { Access } from "@sluice/domain/access/Access"
import type { KeyInvalid } from "@sluice/domain/access/AccessErrors"
import { withAbort } from "@sluice/domain/runtime/Abortable"
import { Context, Duration, Effect, Exit, Layer, Schedule } from "effect"
import { inWallTime } from "../clock/WallTime.ts"

const CHECK_EVERY = Duration.millis(500)
const MAX_CONCURRENT_CHECKS = 8

interface Watcher {
  readonly end: (error: KeyInvalid) => void
  readonly beat: (() => void) | undefined
}

export class KeyWatch extends Context.Service<
  KeyWatch,
  {
    /** Fails once the key is not valid any more; waits until then. */
    readonly untilInvalid: (bearer: string | undefined) => Effect.Effect<never, KeyInvalid>
    /** Interrupts the work once the key is not valid any more, and calls `beat` at each interval until then. */
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
      const check = (bearer: string) =>
        Effect.map(Effect.exit(access.authenticate(bearer, undefined)), (exit) => {
          const error = Exit.findErrorOption(exit)
          if (error._tag === "None" || error.value._tag !== "KeyInvalid") return
          for (const { end } of watched.get(bearer) ?? []) end(error.value)
        })
      const atIntervals = (effect: Effect.Effect<void>) =>
        effect.pipe(Effect.repeat(Schedule.spaced(CHECK_EVERY)), inWallTime, Effect.forkScoped)
      yield* atIntervals(beatAll)
      // Separate from the beat, because a silent database delays the checks.
      yield* atIntervals(
        Effect.suspend(() =>
          Effect.forEach(watched.keys(), check, { concurrency: MAX_CONCURRENT_CHECKS, discard: true })
        )
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
        untilInvalid: (bearer) =>
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
