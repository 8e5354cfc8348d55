import { assert, it } from "@effect/vitest"
import { Clock, Crypto, Effect } from "effect"
import { TestClock } from "effect/testing"
import { layer } from "../../src/crypto/PooledCrypto.ts"

const COUNT = 20_000

it.live("ids are UUIDs of version 7: their time, and digits that no other id has", () =>
  Effect.gen(function* () {
    const crypto = yield* Crypto.Crypto
    const before = yield* Clock.currentTimeMillis
    const ids: Array<string> = []
    for (let i = 0; i < COUNT; i++) ids.push(yield* crypto.randomUUIDv7())
    const after = yield* Clock.currentTimeMillis
    assert.deepEqual(ids, ids.toSorted())
    const seen = {
      variants: new Set<string>(),
      tails: new Set<string>(),
      digits: Array.from({ length: 36 }, () => new Set())
    }
    for (const id of ids) {
      assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      const at = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
      assert.isTrue(at >= before && at <= after, id)
      seen.variants.add(id[19]!)
      seen.tails.add(id.slice(24))
      for (let i = 15; i < 36; i++) seen.digits[i]!.add(id[i])
    }
    assert.strictEqual(seen.tails.size, COUNT)
    assert.strictEqual(seen.variants.size, 4)
    // Every random digit takes every value.
    for (const i of [20, 21, 22, ...Array.from({ length: 12 }, (_, n) => 24 + n)])
      assert.strictEqual(seen.digits[i]!.size, 16, `digit ${i}`)
  }).pipe(Effect.provide(layer))
)

it.effect("each id sorts after the last, while time stands still and when it goes back", () =>
  Effect.gen(function* () {
    const crypto = yield* Crypto.Crypto
    const ids: Array<string> = []
    const more = Effect.gen(function* () {
      for (let i = 0; i < COUNT; i++) ids.push(yield* crypto.randomUUIDv7())
    })
    yield* TestClock.setTime(1_800_000_000_000)
    yield* more
    yield* TestClock.setTime(1_700_000_000_000)
    yield* more
    assert.deepEqual(ids, ids.toSorted())
    // Ahead of the clock by no more than the milliseconds that they fill.
    const last = Number.parseInt(ids.at(-1)!.slice(0, 13).replace("-", ""), 16)
    assert.strictEqual(last, 1_800_000_000_000 + Math.floor((2 * COUNT - 1) / 4_096))
    yield* TestClock.setTime(1_800_000_001_000)
    const later = yield* crypto.randomUUIDv7()
    assert.isTrue(
      later > ids.at(-1)! && later.startsWith((1_800_000_001_000).toString(16).padStart(12, "0").slice(0, 8))
    )
  }).pipe(Effect.provide(layer))
)
