/** Group commit: many callers share one statement, get their own answers in fair order, and one bad row fails alone. */
import { assert, describe, it } from "@effect/vitest"
import * as GroupCommit from "@sluice/domain/database/GroupCommit"
import { StoreWrites, storeWritesLayer } from "@sluice/domain/database/StoreWrites"
import { Effect, Exit, Fiber, Scope } from "effect"
import { SqlError } from "effect/sql"
import { TestClock } from "effect/testing"

interface Item {
  readonly key: string
  readonly n: number
}

const recording = Effect.gen(function* () {
  const flushes: Array<ReadonlyArray<Item>> = []
  const commits = yield* GroupCommit.make<Item, number, string, never>(
    { name: "test", maxRows: 64, key: (item) => item.key, alone: (item) => (item.n < 0 ? "one" : undefined) },
    (items) =>
      Effect.gen(function* () {
        flushes.push(items)
        yield* Effect.yieldNow
        if (items.some((item) => item.n === 13)) return yield* Effect.fail("thirteen")
        return items.map((item) => Exit.succeed(item.n * 2))
      })
  )
  return { flushes, commits }
})

describe("GroupCommit", () => {
  it.effect("gives each caller its own answer, and fails only the bad row", () =>
    Effect.gen(function* () {
      const { commits, flushes } = yield* recording
      const items = Array.from({ length: 64 }, (_, n) => ({ key: `k${n % 5}`, n }))
      const exits = yield* Effect.forEach(items, (item) => Effect.exit(commits.submit(item)), {
        concurrency: "unbounded"
      })
      exits.forEach((exit, n) => assert.deepStrictEqual(exit, n === 13 ? Exit.fail("thirteen") : Exit.succeed(n * 2)))
      assert.isAtMost(flushes.length, 14)
    }).pipe(Effect.scoped)
  )

  it.effect("fails only a row that can't be encoded, and continues", () =>
    Effect.gen(function* () {
      const { submit } = yield* GroupCommit.make<Item, string, never, never>(
        { name: "test", maxRows: 64, key: (item) => item.key },
        (items) => {
          const texts = items.map(({ n }) => new Date(n).toISOString())
          return Effect.succeed(texts.map((text) => Exit.succeed(text)))
        }
      )
      const times = [0, Number.NaN, 1_000]
      const write = (n: number) => Effect.exit(submit({ key: "k", n }))
      const exits = yield* Effect.forEach(times, write, { concurrency: "unbounded" })
      assert.deepStrictEqual(exits.map(Exit.isSuccess), [true, false, true])
      assert.deepStrictEqual(yield* write(2_000), Exit.succeed("1970-01-01T00:00:02.000Z"))
      // Left open: with a stuck queue, closing it would wait for ever.
    }).pipe(Effect.provideService(Scope.Scope, Scope.makeUnsafe()), Effect.timeout("5 seconds"), TestClock.withLive)
  )

  it.effect("reports a full store for a while, even when a place becomes free meanwhile", () =>
    Effect.gen(function* () {
      const writes = yield* StoreWrites
      const fails = { with: "" }
      const { submit } = yield* GroupCommit.make<Item, number, SqlError.SqlError, never>(
        { name: "test", maxRows: 64, key: (item) => item.key },
        (items) => {
          if (fails.with === "") return Effect.succeed(items.map((item) => Exit.succeed(item.n)))
          const cause = Object.assign(new Error("PostgreSQL's words"), { code: fails.with })
          return Effect.fail(new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause }) }))
        }
      )
      const write = (code: string) =>
        Effect.andThen(
          Effect.sync(() => void (fails.with = code)),
          Effect.exit(submit({ key: "k", n: 1 }))
        )
      yield* write("40001")
      assert.isFalse(writes.isDiskFull(), "a conflict is no lack of room")
      yield* write("53100")
      assert.isTrue(writes.isDiskFull())
      yield* write("")
      assert.isTrue(writes.isDiskFull())
      yield* TestClock.adjust("9 seconds")
      assert.isTrue(writes.isDiskFull())
      yield* TestClock.adjust("1 second")
      assert.isFalse(writes.isDiskFull())
    }).pipe(Effect.scoped, Effect.provide(storeWritesLayer))
  )

  it.effect("asks an unavailable store once for all rows, not once per row", () =>
    Effect.gen(function* () {
      let flushes = 0
      const { submit } = yield* GroupCommit.make<Item, number, SqlError.SqlError, never>(
        { name: "test", maxRows: 64, key: (item) => item.key },
        () => {
          flushes++
          const cause = Object.assign(new Error("PostgreSQL's words"), { code: "57P01" })
          return Effect.fail(new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause }) }))
        }
      )
      const submits = Array.from({ length: 64 }, (_, n) => Effect.exit(submit({ key: "k", n })))
      const exits = yield* Effect.all(submits, { concurrency: "unbounded" })
      assert.isTrue(exits.every(Exit.isFailure))
      assert.isAtMost(flushes, 2)
    }).pipe(Effect.scoped)
  )

  it.effect("writes all accepted rows before its scope closes", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const written: Array<number> = []
      const { submit } = yield* Scope.provide(
        GroupCommit.make<Item, number, never, never>(
          { name: "test", maxRows: 2, key: (item) => item.key },
          Effect.fnUntraced(function* (items) {
            yield* Effect.sleep(1_000)
            written.push(...items.map(({ n }) => n))
            return items.map(({ n }) => Exit.succeed(n))
          })
        ),
        scope
      )
      const numbers = [1, 2, 3, 4, 5]
      const answers = yield* Effect.forkChild(
        Effect.forEach(numbers, (n) => submit({ key: "k", n }), { concurrency: "unbounded" }),
        { startImmediately: true }
      )
      const closed = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
      yield* TestClock.adjust(2_999)
      assert.isUndefined(closed.pollUnsafe())
      yield* TestClock.adjust(1)
      yield* Fiber.join(closed)
      assert.deepStrictEqual([written, yield* Fiber.join(answers)], [numbers, numbers])
    })
  )

  it.effect("serves idle keys again, with more keys than it remembers", () =>
    Effect.gen(function* () {
      const { commits } = yield* recording
      const items = Array.from({ length: 2_500 }, (_, n) => ({ key: `k${n}`, n: n + 100 }))
      for (const concurrency of [1, 8, 2_000]) {
        const answers = yield* Effect.forEach(items, commits.submit, { concurrency })
        assert.deepStrictEqual(
          answers,
          items.map(({ n }) => n * 2)
        )
      }
    }).pipe(Effect.scoped)
  )

  it.effect("lets another workspace pass a flood", () =>
    Effect.gen(function* () {
      const { commits, flushes } = yield* recording
      const flood = yield* Effect.forkChild(
        Effect.forEach(
          Array.from({ length: 2_000 }, (_, n) => ({ key: "flood", n: n + 100 })),
          commits.submit,
          {
            concurrency: "unbounded",
            discard: true
          }
        )
      )
      yield* Effect.yieldNow
      yield* Effect.yieldNow
      const before = flushes.length
      assert.strictEqual(yield* commits.submit({ key: "other", n: 1 }), 2)
      assert.isAtMost(flushes.length - before, 2, "the flush in flight, and its own")
      yield* Fiber.join(flood)
      for (const flush of flushes) assert.isAtMost(flush.length, 64)
    }).pipe(Effect.scoped)
  )

  it.effect("never puts two exclusive rows into one statement, and never writes a cancelled row", () =>
    Effect.gen(function* () {
      const { commits, flushes } = yield* recording
      yield* Effect.forEach([-1, -2, -3], (n) => commits.submit({ key: `${n}`, n }), { concurrency: "unbounded" })
      for (const flush of flushes) assert.isAtMost(flush.filter((item) => item.n < 0).length, 1)
      const given = yield* Effect.forkChild(commits.submit({ key: "a", n: 5 }), { startImmediately: true })
      yield* Fiber.interrupt(given)
      yield* commits.submit({ key: "a", n: 6 })
      assert.isFalse(flushes.some((flush) => flush.some((item) => item.n === 5)))
    }).pipe(Effect.scoped)
  )
})
