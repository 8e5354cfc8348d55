/** The thread that counts dies: whoever waited for it is told, nobody waits for ever, and the next one gets a new thread. */
import { expect, it } from "@effect/vitest"
import { TokenThread } from "@sluice/server/tokens/TokenThread"
import { Effect, Exit } from "effect"

it.live("what waits for a thread that dies fails, and what comes next is counted", () =>
  Effect.gen(function* () {
    const thread = yield* Effect.acquireRelease(
      Effect.sync(() => new TokenThread()),
      (thread) => Effect.promise(() => thread.end())
    )
    const poison = thread.fit("a", undefined as never, 1)
    const waiting = thread.count("b", ["hello"], Number.POSITIVE_INFINITY)
    const died = <A>(asked: Effect.Effect<A>) => Effect.map(Effect.exit(asked), Exit.hasDies)
    // The poison is read first: however fast the thread is, it never comes to the other.
    expect(yield* Effect.all([died(poison), died(waiting)], { concurrency: 2 })).toEqual([true, true])
    expect(yield* thread.count("b", ["hello world"], Number.POSITIVE_INFINITY)).toEqual([2])
  }).pipe(Effect.scoped, Effect.timeout("5 minutes"))
)
