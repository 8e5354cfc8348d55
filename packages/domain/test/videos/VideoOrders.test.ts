/** Orders of films: each is created once under retries, within the balance and the budget. */
import { NodeCrypto } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { expect } from "@effect/vitest"
import { decodeVideo } from "@sluice/domain/videos/VideoRequest"
import { VideoStore } from "@sluice/domain/videos/VideoStore"
import { Crypto, Deferred, Effect, Exit, Fiber, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import { onEveryDatabase } from "@sluice/testing/engines/Databases"
import { losing } from "@sluice/testing/engines/LostAnswers"
import { failed, REQUEST, script, services, setUp, stranger } from "@sluice/testing/fixtures/Films"
import { money, setBudget } from "@sluice/testing/fixtures/Workspace"

const losses = { left: 0, of: /insert into videos/ }

onEveryDatabase("Orders of videos", (it) => {
  it.layer(services)("over a scripted provider", (it) => {
    it.effect("accepts a repeated order once, with money for one alone", () =>
      Effect.gen(function* () {
        const { principal } = yield* setUp(50n)
        const { environmentId, keyId, workspaceId } = principal
        const id = yield* Effect.flatMap(Crypto.Crypto, (crypto) => crypto.randomUUIDv7())
        const order = { id, workspaceId, environmentId, keyId, ...REQUEST, size: "640x368", seconds: 4, price: 40n }
        const store = yield* VideoStore
        expect(yield* store.admit(order)).toMatchObject({ refused: null })
        expect(yield* store.admit(order)).toMatchObject({ refused: null })
        expect(yield* money(principal)).toMatchObject({ balance: 50n, held: 40n, openHolds: 40n })
      }).pipe(Effect.provide(NodeCrypto.layer))
    )

    it.effect("accepts an order once under one key, for any number and speed of repeats", () =>
      Effect.gen(function* () {
        const { principal, turn, videos } = yield* setUp(100n)
        const said = { ...REQUEST, idempotencyKey: "k" }
        const all = yield* Effect.all(
          Array.from({ length: 8 }, () => videos.submit(principal, said)),
          { concurrency: "unbounded" }
        )
        expect(new Set(all.map(({ video }) => video.id)).size).toBe(1)
        expect(all.filter(({ replayed }) => !replayed)).toHaveLength(1)
        expect(yield* money(principal)).toMatchObject({ balance: 100n, held: 40n, openHolds: 40n })
        const differs = yield* Effect.flip(videos.submit(principal, { ...said, prompt: "fog" }))
        expect(differs._tag).toBe("VideoOrderDiffers")
        script.look = Effect.succeed({ _tag: "Completed" })
        yield* turn
        yield* turn
        expect(yield* videos.submit(principal, said)).toMatchObject({ replayed: true, video: { status: "completed" } })
        expect(yield* money(principal)).toMatchObject({ balance: 60n, held: 0n, usage: 1n })
        // Another environment does not share the key.
        const other = yield* stranger(100n)
        expect((yield* videos.submit(other, said)).replayed).toBe(false)
      })
    )

    it.effect("answers each of many requests under one key with the one video, with money for no other", () =>
      Effect.gen(function* () {
        const { principal, videos } = yield* setUp(50n)
        const said = Effect.all(
          Array.from({ length: 8 }, () => videos.submit(principal, { ...REQUEST, idempotencyKey: "k" })),
          { concurrency: "unbounded" }
        )
        // All of them look before one locks the account.
        const sql = yield* PgClient.PgClient
        const locked = yield* Deferred.make<void>()
        const lock = Effect.andThen(sql`select 1 from accounts for update`, Deferred.succeed(locked, undefined))
        yield* Effect.forkChild(sql.withTransaction(Effect.andThen(lock, sql`select pg_sleep(0.3)`)))
        yield* Deferred.await(locked)
        expect(new Set((yield* said).map(({ video }) => video.id)).size).toBe(1)
        expect(yield* money(principal)).toMatchObject({ balance: 50n, held: 40n, openHolds: 40n })
      })
    )

    it.effect("accepts no more films than fit the budget, concurrent or sequential, before any is created", () =>
      Effect.gen(function* () {
        const { all, principal, turn } = yield* setUp(10_000n)
        yield* setBudget(principal, 100n)
        const exits = yield* Effect.forEach(
          Array.from({ length: 40 }, () => REQUEST),
          (order) => Effect.exit(all.submit(principal, order)),
          { concurrency: "unbounded" }
        )
        expect(exits.filter(Exit.isSuccess)).toHaveLength(2)
        expect((yield* Effect.flip(all.submit(principal, REQUEST)))._tag).toBe("BudgetReached")
        script.look = failed("refused")
        yield* turn
        yield* turn
        expect(yield* money(principal)).toMatchObject({ held: 0n, spent: 0n })
        yield* all.submit(principal, REQUEST)
        script.look = Effect.succeed({ _tag: "Completed" })
        yield* turn
        yield* turn
        expect(yield* money(principal)).toMatchObject({ held: 0n, spent: 40n })
      })
    )

    it.effect("accepts a prompt with half a character in the form that the database stores, once", () =>
      Effect.gen(function* () {
        const { principal, videos } = yield* setUp(100n)
        const body = { model: "film", prompt: "a wave \ud83d" }
        const request = Result.getOrThrow(decodeVideo(body, { idempotencyKey: "half" }))
        const first = yield* videos.submit(principal, request)
        const again = yield* videos.submit(principal, request)
        expect([first.replayed, again.replayed, again.video.id]).toEqual([false, true, first.video.id])
        expect(first.video.prompt).toBe("a wave \ufffd")
        expect(yield* money(principal)).toMatchObject({ held: 40n })
      })
    )
  })

  it.effect("names a film with an unknown outcome to its caller", () =>
    Effect.gen(function* () {
      const { principal, videos } = yield* setUp(1_000n)
      for (const idempotencyKey of [undefined, "k"]) {
        losses.left = 9
        const order = Effect.flip(videos.submit(principal, { ...REQUEST, idempotencyKey }))
        const fiber = yield* Effect.forkChild(order)
        while (fiber.pollUnsafe() === undefined) {
          yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 2)))
          yield* TestClock.adjust(10)
        }
        losses.left = 0
        const failure = yield* Fiber.join(fiber)
        expect(failure).toMatchObject({ _tag: "VideoOutcomeUnknown", hasIdempotencyKey: idempotencyKey !== undefined })
        const id = failure._tag === "VideoOutcomeUnknown" ? failure.id : ""
        expect((yield* videos.show(principal, id)).status).toBe("queued")
      }
      expect((yield* videos.submit(principal, { ...REQUEST, idempotencyKey: "k" })).replayed).toBe(true)
      expect(yield* money(principal)).toMatchObject({ held: 80n })
    }).pipe(Effect.provide(services.pipe(Layer.provide(losing(losses)))))
  )
})
