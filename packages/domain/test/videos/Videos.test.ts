/** Films over a failing provider: each hold is charged once or released, for any answer, on every database. */
import { expect } from "@effect/vitest"
import { VideoStore } from "@sluice/domain/videos/VideoStore"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { onEveryDatabase } from "@sluice/testing/engines/Databases"
import { counted, failed, REQUEST, script, services, setUp } from "@sluice/testing/fixtures/Films"
import { money, setBudget } from "@sluice/testing/fixtures/Workspace"

onEveryDatabase("Videos", (it) => {
  it.layer(services)("over a provider that fails", (it) => {
    it.effect("charges a completed film once, and requests each film under its own id", () =>
      Effect.gen(function* () {
        const { all, principal, turn } = yield* setUp(100n)
        const before = yield* counted
        const video = yield* all.submit(principal, REQUEST)
        expect(yield* money(principal)).toMatchObject({ balance: 100n, held: 40n, openHolds: 40n })
        script.submit = failed("broken")
        yield* turn
        script.submit = Effect.succeed("its name")
        yield* turn
        expect(script.asked).toEqual([`submit ${video.id}`, `submit ${video.id}`])
        script.look = failed("timeout")
        yield* turn
        script.look = Effect.succeed({ _tag: "Filming", percent: 30 })
        yield* turn
        expect(yield* all.show(principal, video.id)).toMatchObject({ status: "in_progress", percent: 30 })
        script.look = Effect.succeed({ _tag: "Completed" })
        yield* turn
        yield* turn
        expect(script.asked.at(-1)).toBe("look its name")
        expect(yield* all.show(principal, video.id)).toMatchObject({ status: "completed", cost: 40n })
        expect(yield* money(principal)).toMatchObject({
          balance: 60n,
          held: 0n,
          openHolds: 0n,
          usage: 1n,
          spent: 40n,
          entries: 0n
        })
        // Observed five minutes after the order, and counted once.
        expect(yield* counted).toEqual({
          ...before,
          ok: before.ok + 1,
          nanoUsd: before.nanoUsd + 40,
          seconds: before.seconds + 300
        })
      })
    )

    it.effect("reports a moderated film as a failure of the film", () =>
      Effect.gen(function* () {
        const { all, principal, turn } = yield* setUp(100n)
        const { id } = yield* all.submit(principal, REQUEST)
        script.look = Effect.succeed({ _tag: "Completed" })
        yield* turn
        yield* turn
        script.read = failed("unserved")
        expect(yield* Effect.flip(all.read(principal, id, undefined))).toMatchObject({ _tag: "VideoWithheld" })
        script.read = failed("overloaded")
        expect(yield* Effect.flip(all.read(principal, id, undefined))).toMatchObject({ reason: "overloaded" })
      })
    )

    it.effect("gives up a film whose content does not arrive", () =>
      Effect.gen(function* () {
        const { all, principal, turn } = yield* setUp(100n)
        const { id } = yield* all.submit(principal, REQUEST)
        script.look = Effect.succeed({ _tag: "Completed" })
        yield* turn
        yield* turn
        script.read = Effect.never
        const reading = yield* Effect.forkChild(Effect.flip(all.read(principal, id, undefined)))
        while (!script.asked.includes("read r")) yield* Effect.yieldNow
        yield* TestClock.adjust("20 minutes")
        expect(yield* Fiber.join(reading)).toMatchObject({ _tag: "UpstreamFailed", reason: "timeout" })
      })
    )

    it.effect("counts a failed and an unpaid film as such, without a cost", () =>
      Effect.gen(function* () {
        const { all, principal, turn } = yield* setUp(50n)
        const before = yield* counted
        yield* all.submit(principal, REQUEST)
        yield* Effect.flip(all.submit(principal, REQUEST))
        script.submit = failed("refused")
        yield* turn
        yield* turn
        expect(yield* counted).toEqual({ ...before, failed: before.failed + 1, refused: before.refused + 1 })
      })
    )

    it.effect("releases the whole hold when the film fails, is refused, or never ends", () =>
      Effect.gen(function* () {
        const { all, principal, turn } = yield* setUp(200n)
        const fails = yield* all.submit(principal, REQUEST)
        script.look = Effect.succeed({ _tag: "Failed", code: "moderation_blocked" })
        yield* turn
        yield* turn
        expect(yield* all.show(principal, fails.id)).toMatchObject({
          status: "failed",
          failure: "moderation_blocked",
          cost: 0n
        })
        expect(script.asked.at(-1)).toBe("remove r")
        const refused = yield* all.submit(principal, { ...REQUEST, seconds: 8 })
        script.submit = failed("refused")
        yield* turn
        expect(yield* all.show(principal, refused.id)).toMatchObject({ failure: "video_generation_failed" })
        const endless = yield* all.submit(principal, REQUEST)
        script.submit = Effect.succeed("endless")
        script.look = Effect.succeed({ _tag: "Filming", percent: 99 })
        yield* turn
        yield* TestClock.adjust("1 hour")
        yield* turn
        expect(yield* all.show(principal, endless.id)).toMatchObject({ failure: "video_timeout", cost: 0n })
        expect(script.asked.at(-1)).toBe("remove endless")
        expect(yield* money(principal)).toMatchObject({ balance: 200n, held: 0n, openHolds: 0n, usage: 0n, spent: 0n })
      })
    )

    it.effect("refuses orders above the balance or the budget, and holds nothing for them", () =>
      Effect.gen(function* () {
        const { all, principal } = yield* setUp(79n)
        yield* all.submit(principal, REQUEST)
        const poor = yield* Effect.flip(all.submit(principal, REQUEST))
        expect(poor).toMatchObject({ _tag: "CreditInsufficient", required: 40n, available: 39n })
        yield* setBudget(principal, 0n)
        expect(yield* Effect.flip(all.submit(principal, REQUEST))).toMatchObject({ _tag: "BudgetReached" })
        expect(yield* money(principal)).toMatchObject({ balance: 79n, held: 40n, openHolds: 40n })
      })
    )

    it.effect("deletes a film after the provider has deleted it", () =>
      Effect.gen(function* () {
        const { all, principal, turn } = yield* setUp(100n)
        const video = yield* all.submit(principal, REQUEST)
        expect(yield* Effect.flip(all.remove(principal, video.id))).toMatchObject({ _tag: "VideoNotEnded" })
        script.look = Effect.succeed({ _tag: "Completed" })
        yield* turn
        yield* turn
        script.remove = failed("broken")
        yield* all.remove(principal, video.id)
        expect(yield* Effect.flip(all.show(principal, video.id))).toMatchObject({ _tag: "VideoNotFound" })
        const removes = () => script.asked.filter((asked) => asked === "remove r").length
        yield* turn
        // A provider that never answers is given up, too.
        script.remove = Effect.never
        const hung = yield* Effect.forkChild(turn)
        while (removes() < 2) yield* Effect.yieldNow
        yield* TestClock.adjust("30 seconds")
        yield* Fiber.join(hung)
        script.remove = Effect.void
        yield* turn
        yield* turn
        yield* turn
        expect(removes()).toBe(3)
        expect(yield* money(principal)).toMatchObject({ balance: 60n, usage: 1n })
      })
    )

    it.effect("commits nothing under a claim that another replica has taken", () =>
      Effect.gen(function* () {
        const { all, principal } = yield* setUp(100n)
        const store = yield* VideoStore
        const video = yield* all.submit(principal, REQUEST)
        const mine = (yield* store.claim(10)).find(({ id }) => id === video.id)!
        yield* TestClock.adjust("1 minute")
        const theirs = (yield* store.claim(10)).find(({ id }) => id === video.id)!
        const done = { status: "completed", percent: 100, failure: null, reference: "r" } as const
        expect(yield* store.commit(mine, done, 0)).toBe(false)
        expect(yield* money(principal)).toMatchObject({ balance: 100n, held: 40n })
        expect(yield* store.commit(theirs, done, 0)).toBe(true)
        expect(yield* store.commit(theirs, done, 0)).toBe(false)
        expect(yield* money(principal)).toMatchObject({ balance: 60n, held: 0n, usage: 1n, entries: 0n })
      })
    )
  })
})
