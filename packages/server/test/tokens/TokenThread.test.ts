/** A counting thread that dies: waiting callers fail, no caller waits for ever, and the next count gets a new thread. */
import { expect, it } from "@effect/vitest"
import { TokenThread } from "@sluice/server/tokens/TokenThread"
import { Effect, Exit } from "effect"

it.live("a count on a thread that dies fails, and the next count succeeds", () =>
  Effect.gen(function* () {
    const thread = yield* Effect.acquireRelease(
      Effect.sync(() => new TokenThread()),
      (thread) => Effect.promise(() => thread.end())
    )
    const poison = thread.fit("a", undefined as never, 1)
    const waiting = thread.count("b", ["hello"], Number.POSITIVE_INFINITY)
    const died = <A>(asked: Effect.Effect<A>) => Effect.map(Effect.exit(asked), Exit.hasDies)
    // The thread reads the poison first, so it never reaches the next message, however fast it is.
    expect(yield* Effect.all([died(poison), died(waiting)], { concurrency: 2 })).toEqual([true, true])
    expect(yield* thread.count("b", ["hello world"], Number.POSITIVE_INFINITY)).toEqual([2])
  }).pipe(Effect.scoped, Effect.timeout("5 minutes"))
)
