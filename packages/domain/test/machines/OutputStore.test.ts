/** Appends of many machines in one statement: each is stored once, in its place, and waits for no other row. */
import { assert } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { onEveryDatabase, onPostgres } from "@sluice/testing/engines/Databases"
import { Replica } from "../../src/database/Replica.ts"
import { MAX_CHUNK_BYTES, OutputStore } from "../../src/machines/OutputStore.ts"

const TestLayer = OutputStore.layer.pipe(Layer.provide(Replica.layer({ speed: 1 })), Layer.provide(NodeServices.layer))
const idOf = (n: number) => `0000000a-0000-7000-8000-${String(n).padStart(12, "0")}`
const bytes = (text: string) => new TextEncoder().encode(text)

const machines = (from: number, count: number) =>
  Effect.flatMap(PgClient.PgClient, (sql) =>
    sql.unsafe(
      `insert into machines (id, workspace_id, environment_id, name, status, spec, price, created_at, wake_at)
       select ('0000000a-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, gen_random_uuid(), gen_random_uuid(), 'm', 'running', '{}', 1, now(), now()
       from generate_series($1::int4, $2::int4) n`,
      [from, from + count - 1]
    )
  )

const stored = Effect.fnUntraced(function* (id: string) {
  const store = yield* OutputStore
  const chunks = yield* store.read(id, 0)
  return new TextDecoder().decode(Buffer.concat(chunks.map((chunk) => chunk.bytes)))
})

onEveryDatabase("OutputStore", (it) => {
  it.effect("stores what came together each at its own place, and refuses what is not at the end", () =>
    Effect.gen(function* () {
      yield* machines(1, 40)
      const store = yield* OutputStore
      const texts = Array.from({ length: 40 }, (_, i) => `output of ${i}\n`.repeat(i + 1))
      const all = texts.map((text, i) => store.append(idOf(i + 1), 0, bytes(text)))
      assert.deepStrictEqual(
        yield* Effect.all(all, { concurrency: "unbounded" }),
        texts.map(() => true)
      )
      for (const [i, text] of texts.entries()) assert.strictEqual(yield* stored(idOf(i + 1)), text)
      const again = [store.append(idOf(1), 0, bytes("x")), store.append(idOf(2), 99, bytes("x"))]
      assert.deepStrictEqual(yield* Effect.all(again, { concurrency: "unbounded" }), [false, false])
      assert.isTrue(yield* store.append(idOf(1), texts[0]!.length, bytes("more")))
      assert.strictEqual(yield* stored(idOf(1)), `${texts[0]}more`)
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("drops readers whose process died, and no reader that still moves", () =>
    Effect.gen(function* () {
      const store = yield* OutputStore
      const sql = yield* PgClient.PgClient
      const [dead, alive, id] = [idOf(201), idOf(202), idOf(203)]
      for (const reader of [dead, alive]) yield* store.reading(id, reader, 5)
      yield* TestClock.adjust("16 seconds")
      yield* store.reading(id, alive, 9)
      assert.strictEqual(yield* store.slowest(id), 9)
      yield* store.dropStale
      const left = yield* sql<{ readonly id: string }>`select follower_id as id from output_followers`
      assert.deepStrictEqual(left, [{ id: alive }])
      yield* store.reading(id, dead, 3)
      yield* store.left(id, alive)
      assert.strictEqual(yield* store.slowest(id), 3)
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("drops whole chunks of a range alone, and reads from within the largest", () =>
    Effect.gen(function* () {
      yield* machines(301, 1)
      const store = yield* OutputStore
      const largest = new Uint8Array(MAX_CHUNK_BYTES)
      const chunks = [bytes("head"), bytes("middle"), largest, bytes("tail")]
      let end = 0
      for (const chunk of chunks) {
        assert.isTrue(yield* store.append(idOf(301), end, chunk))
        end += chunk.length
      }
      const starts = (position: number) =>
        Effect.map(store.read(idOf(301), position), (read) => read.map(({ start }) => start))
      assert.deepStrictEqual(yield* starts(0), [0, 4, 10, 10 + MAX_CHUNK_BYTES])
      assert.deepStrictEqual(yield* starts(9 + MAX_CHUNK_BYTES), [10, 10 + MAX_CHUNK_BYTES])
      yield* store.prune(idOf(301), 2, 11)
      assert.deepStrictEqual(yield* starts(0), [0, 10, 10 + MAX_CHUNK_BYTES])
      assert.strictEqual(yield* store.total(idOf(301)), end)
    }).pipe(Effect.provide(TestLayer))
  )
})

onEveryDatabase("OutputStore, read from an offset", (it) => {
  it.effect(
    "a read begins with the chunk that holds the byte at the offset, and never with one that ended before it",
    () =>
      Effect.gen(function* () {
        yield* machines(401, 1)
        const store = yield* OutputStore
        for (const [start, text] of [
          [0, "head"],
          [4, "middle"],
          [10, "t"]
        ] as const)
          assert.isTrue(yield* store.append(idOf(401), start, bytes(text)))
        const starts = (offset: number) =>
          Effect.map(store.read(idOf(401), offset), (read) => read.map(({ start }) => start))
        const expected = new Map([
          [3, [0, 4, 10]],
          [4, [4, 10]],
          [9, [4, 10]],
          [10, [10]],
          [11, []]
        ])
        for (const [offset, chunks] of expected)
          assert.deepStrictEqual([offset, yield* starts(offset)], [offset, chunks])
      }).pipe(Effect.provide(TestLayer))
  )
})

onPostgres("OutputStore beside a commit", (it) => {
  it.effect("passes over the machine that is being committed, and stores the others", () =>
    Effect.gen(function* () {
      yield* machines(101, 2)
      const sql = yield* PgClient.PgClient
      const store = yield* OutputStore
      const both = Effect.forEach([101, 102], (n) => store.append(idOf(n), 0, bytes("text")), {
        concurrency: "unbounded"
      })
      const answers = yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql.unsafe(`update machines set events = events + 1 where id = $1`, [idOf(101)])
          // On another connection: it would wait for this one for ever.
          return yield* Fiber.join(yield* Effect.forkDetach(both))
        })
      )
      assert.deepStrictEqual(answers, [false, true])
      assert.deepStrictEqual(yield* both, [true, false])
    }).pipe(Effect.provide(TestLayer))
  )
})
