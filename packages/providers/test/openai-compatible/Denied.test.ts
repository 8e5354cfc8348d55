/** Servers that turn the service away, for a wrong key, no credit or a name that they don't know. */
import { expect, it } from "@effect/vitest"
import { Effect, Random } from "effect"
import { recordedServer, says } from "@sluice/testing/upstreams/RecordedServer"
import { ask, chatEntry, world } from "@sluice/testing/upstreams/UpstreamWorld"

/** A model over servers that answer so, asked one after the other. */
const over = (statuses: ReadonlyArray<number>) =>
  Effect.gen(function* () {
    const servers = yield* Effect.forEach(statuses, (status) =>
      recordedServer((_, response) => says(response, status, { error: { message: "no" } }))
    )
    const models = yield* world([chatEntry(servers.map(({ url }) => ({ base_url: url })))])
    const states = Effect.map(models.health!, (all) => all.map(({ state }) => state))
    return { asked: ask(models).pipe(Effect.provideService(Random.Random, IN_ORDER)), states }
  })

/** Always the first that may be asked. */
const IN_ORDER = { nextDoubleUnsafe: () => 0, nextIntUnsafe: () => 0 }

it.live("count as ill, and callers are told that their requests can't help it", () =>
  Effect.gen(function* () {
    for (const status of [401, 402, 404]) {
      const one = yield* over([status])
      for (let i = 0; i < 5; i++) expect([status, (yield* one.asked).reason]).toEqual([status, "denied"])
      expect([status, ...(yield* one.states)]).toEqual([status, "open"])
    }
  }).pipe(Effect.scoped)
)

it.live("are no reason not to ask again where another server may answer later", () =>
  Effect.gen(function* () {
    for (const [statuses, reason] of [
      [[402, 401], "denied"],
      [[404, 403], "forbidden"],
      [[503, 402], "broken"],
      [[402, 503], "overloaded"],
      [[402, 402, 402, 402], "broken"]
    ] as const) {
      const some = yield* over(statuses)
      expect([statuses, (yield* some.asked).reason]).toEqual([statuses, reason])
    }
    // The first rests.
    const two = yield* over([429, 402])
    expect([(yield* two.asked).reason, (yield* two.asked).reason]).toEqual(["broken", "broken"])
  }).pipe(Effect.scoped)
)
