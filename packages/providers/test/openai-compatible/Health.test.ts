/** Several servers behind one model: who is left alone for a while, and what callers are told where all are. */
import { expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { greets, type Script } from "@sluice/testing/upstreams/RecordedServer"
import { fails, over } from "./support/Servers.ts"
import { until } from "@sluice/testing/upstreams/UpstreamWorld"

it.live("a server that fails again and again is left alone, and asked again after a while", () =>
  Effect.gen(function* () {
    const two = yield* over([fails(500), greets])
    expect(yield* two.states).toEqual(["closed", "closed"])
    for (let i = 0; i < 20; i++) expect((yield* two.asked).reason).toBe(undefined)
    expect(two.counts()).toEqual([5, 20])
    expect(yield* two.states).toEqual(["open", "closed"])
    two.pass(5_000)
    yield* two.asked
    expect(two.counts()).toEqual([6, 21])
    two.pass(9_999)
    yield* two.asked
    expect(two.counts()).toEqual([6, 22])
    two.pass(1)
    two.servers[0]!.script = greets
    for (let i = 0; i < 3; i++) yield* two.asked
    expect(two.counts()).toEqual([9, 22])
    expect(yield* two.states).toEqual(["closed", "closed"])
  }).pipe(Effect.scoped)
)

it.live("a busy server rests for as long as it asks", () =>
  Effect.gen(function* () {
    const two = yield* over([fails(429, { "retry-after": "30" }), greets])
    for (let i = 0; i < 3; i++) yield* two.asked
    expect(yield* two.states).toEqual(["resting", "closed"])
    two.pass(29_999)
    yield* two.asked
    expect(two.counts()).toEqual([1, 4])
    two.pass(1)
    yield* two.asked
    expect(two.counts()).toEqual([2, 5])
  }).pipe(Effect.scoped)
)

it.live("where all are left alone nobody is asked", () =>
  Effect.gen(function* () {
    const one = yield* over([fails(500)])
    for (let i = 0; i < 5; i++) expect((yield* one.asked).reason).toBe("broken")
    expect([(yield* one.asked).reason, one.counts()]).toEqual(["overloaded", [5]])
  }).pipe(Effect.scoped)
)

it.live("where all are left alone it is told for how long, be it the refusal that began it", () =>
  Effect.gen(function* () {
    const two = yield* over([fails(429, { "retry-after": "30" }), fails(429, { "retry-after": "20.5" })])
    const again = Effect.map(two.asked, ({ reason, retryAfterSeconds }) => [reason, retryAfterSeconds])
    expect([yield* again, two.counts()]).toEqual([
      ["overloaded", 21],
      [1, 1]
    ])
    two.pass(10_400)
    expect(yield* again).toEqual(["overloaded", 11])
    two.pass(10_100)
    two.servers[1]!.script = fails(503)
    expect([yield* again, two.counts()]).toEqual([
      ["overloaded", undefined],
      [1, 2]
    ])
    two.servers[1]!.script = greets
    expect(yield* again).toEqual([undefined, undefined])
  }).pipe(Effect.scoped)
)

it.live("requests at once are bounded; one more goes elsewhere or is refused", () =>
  Effect.gen(function* () {
    const waiting: Array<() => void> = []
    const slow: Script = (seen, response, request) => void waiting.push(() => greets(seen, response, request))
    const two = yield* over([slow, slow], { max_concurrency: 3 })
    const all = yield* Effect.forkChild(
      Effect.all(
        Array.from({ length: 8 }, () => two.asked),
        { concurrency: 8 }
      )
    )
    yield* until(() => waiting.length >= 6)
    expect(two.counts()).toEqual([3, 3])
    for (const go of waiting) go()
    const answers = yield* Fiber.join(all)
    expect(answers.map(({ reason }) => reason).sort()).toEqual([
      "overloaded",
      "overloaded",
      ...Array.from({ length: 6 }, () => undefined)
    ])
    for (const server of two.servers) server.script = greets
    expect((yield* two.asked).reason).toBe(undefined)
  }).pipe(Effect.scoped, Effect.timeout("5 minutes"))
)
