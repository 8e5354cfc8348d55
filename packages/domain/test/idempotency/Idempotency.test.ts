/** Idempotency through crashes and time (decisions: Idempotency-Key), on both stores. */
import { NodeCrypto } from "@effect/platform-node"
import { expect } from "@effect/vitest"
import { Seal, SealBroken } from "@sluice/domain/database/Seal"
import { type FirstAnswer, Idempotency, type Outcome } from "@sluice/domain/idempotency/Idempotency"
import { type Attempt, CurrentAttempt } from "@sluice/domain/idempotency/Attempt"
import { IdempotencyStore } from "@sluice/domain/idempotency/IdempotencyStore"
import { Deferred, Effect, Exit, Fiber, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient } from "effect/sql"
import { onEveryDatabase } from "@sluice/testing/engines/Databases"

/** Not a cipher, but it fails when a value is opened under another key. */
const seal = Layer.succeed(Seal, {
  seal: (value, aad) => new TextEncoder().encode(`${aad}\n${Redacted.value(value)}`),
  open: (sealed, aad) => {
    const text = new TextDecoder().decode(sealed)
    return text.startsWith(`${aad}\n`)
      ? Effect.succeed(Redacted.make(text.slice(aad.length + 1)))
      : Effect.fail(new SealBroken({ aad }))
  }
})
const layer = Idempotency.layer.pipe(
  Layer.provideMerge(IdempotencyStore.layer),
  Layer.provide(seal),
  Layer.provide(NodeCrypto.layer)
)

/** The service over a store whose claims, after the commit, end as `after` says. */
const claiming = (after: Effect.Effect<void>) =>
  Layer.fresh(Idempotency.layerNoDeps).pipe(
    Layer.provide(
      Layer.effect(
        IdempotencyStore,
        Effect.map(IdempotencyStore, (store) => ({
          ...store,
          claim: (claim: Parameters<typeof store.claim>[0]) => Effect.tap(store.claim(claim), () => after)
        }))
      )
    ),
    Layer.provide(seal),
    Layer.provide(NodeCrypto.layer)
  )

const request = (key: string, requestHash = "aa".repeat(32)) => ({
  workspaceId: "01890a5d-ac96-774b-bcce-b302099a8057",
  key,
  requestHash
})
const answering = (text: string, outcome: Outcome = "kept") =>
  Effect.map(CurrentAttempt, (attempt) => ({ text: `${text} ${attempt?.id}`, outcome }))
/** Near the test clock's own start: the sweep runs each hour of a jump. */
const START = 2 * 86_400_000

onEveryDatabase("Idempotency", (it) => {
  it.layer(layer)("", (it) => {
    it.effect("runs again with the same attempt after a run that never ended, and only then", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(START)
        const idempotency = yield* Idempotency
        const store = yield* IdempotencyStore
        // A process claims the key and dies.
        const claim = {
          ...request("k"),
          attemptId: "01890a5d-0000-774b-bcce-b302099a8057",
          now: new Date(START),
          lockedUntil: new Date(START + 60_000),
          expiredBefore: new Date(0)
        }
        expect(yield* store.claim(claim)).toBe(claim.attemptId)
        expect((yield* Effect.flip(idempotency.once(request("k"), answering("x"))))._tag).toBe("IdempotencyInProgress")
        expect((yield* Effect.flip(idempotency.once(request("k", "bb".repeat(32)), answering("x"))))._tag).toBe(
          "IdempotencyMismatch"
        )
        yield* TestClock.setTime(START + 60_000)
        // A late answer of the dead run changes nothing while another run has the key.
        const late = Effect.forEach(
          [store.finish(claim, new Uint8Array(1)), store.reopen(claim), store.release(claim)],
          (said) => said
        )
        expect(yield* idempotency.once(request("k"), Effect.andThen(late, answering("second")))).toEqual({
          text: `second ${claim.attemptId}`,
          replayed: false
        })
        // It changes nothing after the end of that run either.
        yield* store.finish(claim, new TextEncoder().encode("late"))
        expect(yield* idempotency.once(request("k"), answering("third"))).toEqual({
          text: `second ${claim.attemptId}`,
          replayed: true
        })
      })
    )

    it.effect("deletes a key after 24 hours", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(START)
        const idempotency = yield* Idempotency
        const store = yield* IdempotencyStore
        const sql = yield* SqlClient.SqlClient
        const first = yield* idempotency.once(request("day"), answering("first"))
        yield* TestClock.setTime(START + 86_400_000)
        expect(yield* idempotency.once(request("day"), answering("second"))).toEqual({ ...first, replayed: true })
        yield* TestClock.setTime(START + 86_400_001)
        const later = yield* idempotency.once(request("day", "bb".repeat(32)), answering("other"))
        expect([later.replayed, later.text.startsWith("other ")]).toEqual([false, true])
        expect(later.text).not.toContain(first.text.slice(6))
        expect(yield* store.sweep(new Date(START + 2 * 86_400_000), 10)).toBe(1)
        expect(yield* sql`select key from idempotency_keys`).toHaveLength(0)
      })
    )

    it.effect("runs again at once, as the same attempt, when the run failed or its answer names no resource", () =>
      Effect.gen(function* () {
        const idempotency = yield* Idempotency
        const attempts: Array<Attempt | undefined> = []
        const once = <E>(end: Effect.Effect<FirstAnswer, E>, hash?: string) =>
          Effect.exit(
            idempotency.once(
              request("f", hash),
              Effect.flatMap(CurrentAttempt, (attempt) => {
                attempts.push(attempt)
                return end
              })
            )
          )
        expect(Exit.isFailure(yield* once(Effect.die("the database was lost when it had committed")))).toBe(true)
        expect(Exit.isFailure(yield* once(Effect.fail("lost")))).toBe(true)
        expect(Exit.isSuccess(yield* once(answering("away", "unknown")))).toBe(true)
        // A started resource may exist: the key accepts no other request.
        expect(yield* Effect.flip(idempotency.once(request("f", "bb".repeat(32)), answering("x")))).toMatchObject({
          _tag: "IdempotencyMismatch"
        })
        expect(yield* once(answering("decided"))).toMatchObject({ value: { replayed: false } })
        const { id } = attempts[0]!
        expect(attempts).toMatchObject([false, true, true, true].map((isRetry) => ({ id, isRetry })))
        expect((yield* idempotency.once(request("f"), answering("again"))).text).toBe(`decided ${id}`)
      })
    )

    it.effect("returns one answer when a slow run was overtaken by another", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(START)
        const { once } = yield* Idempotency
        const may = yield* Deferred.make<void>()
        const slow = yield* Effect.forkChild(
          once(request("slow"), Effect.andThen(Deferred.await(may), answering("slow"))),
          { startImmediately: true }
        )
        // Its claim is committed before it is overtaken.
        const sql = yield* SqlClient.SqlClient
        while ((yield* sql`select from idempotency_keys where key = 'slow'`).length === 0) yield* Effect.yieldNow
        yield* TestClock.setTime(START + 60_000)
        const standing = yield* once(request("slow"), answering("quick"))
        expect(standing.text).toMatch(/^quick /)
        yield* Deferred.succeed(may, undefined)
        expect(yield* Fiber.join(slow)).toEqual({ ...standing, replayed: true })
      })
    )

    it.effect("frees the key, for other requests too, when nothing was started", () =>
      Effect.gen(function* () {
        const idempotency = yield* Idempotency
        const refused = yield* idempotency.once(request("n"), answering("refused", "none"))
        const other = yield* idempotency.once(request("n", "bb".repeat(32)), answering("other"))
        expect([refused.replayed, other.replayed]).toEqual([false, false])
        expect(other.text.split(" ")[1]).not.toBe(refused.text.split(" ")[1])
      })
    )

    it.effect("continues when the caller disconnects during the claim", () =>
      Effect.gen(function* () {
        const claimed = yield* Deferred.make<void>()
        const may = yield* Deferred.make<void>()
        const held = Effect.andThen(Deferred.succeed(claimed, undefined), Deferred.await(may))
        const { once } = yield* Effect.provide(Idempotency, yield* Layer.build(claiming(held)))
        const caller = yield* Effect.forkChild(once(request("left"), answering("done")))
        yield* Deferred.await(claimed)
        const gone = yield* Effect.forkChild(Fiber.interrupt(caller), { startImmediately: true })
        yield* Deferred.succeed(may, undefined)
        yield* Fiber.join(gone)
        expect((yield* (yield* Idempotency).once(request("left"), answering("again"))).text).toMatch(/^done /)
      }).pipe(Effect.scoped)
    )

    it.effect("claims again at once when the answer to its claim was lost", () =>
      Effect.gen(function* () {
        const lost = yield* Layer.build(claiming(Effect.die("the connection broke")))
        const { once } = yield* Effect.provide(Idempotency, lost)
        expect(Exit.isFailure(yield* Effect.exit(once(request("lost"), answering("never"))))).toBe(true)
        expect((yield* (yield* Idempotency).once(request("lost"), answering("then"))).text).toMatch(/^then /)
      }).pipe(Effect.scoped)
    )

    it.effect("keeps the key with its run when a concurrent claim is lost", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(START)
        const { once } = yield* Idempotency
        const begun = yield* Deferred.make<void>()
        const may = yield* Deferred.make<void>()
        const held = Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(may))
        const running = yield* Effect.forkChild(once(request("both"), Effect.andThen(held, answering("first"))))
        yield* Deferred.await(begun)
        const lost = yield* Effect.provide(
          Idempotency,
          yield* Layer.build(claiming(Effect.die("the connection broke")))
        )
        expect(Exit.isFailure(yield* Effect.exit(lost.once(request("both"), answering("second"))))).toBe(true)
        expect((yield* Effect.flip(once(request("both"), answering("third"))))._tag).toBe("IdempotencyInProgress")
        yield* Deferred.succeed(may, undefined)
        expect((yield* Fiber.join(running)).text).toMatch(/^first /)
      }).pipe(Effect.scoped)
    )

    it.effect("continues after the caller has disconnected", () =>
      Effect.gen(function* () {
        const idempotency = yield* Idempotency
        const begun = yield* Deferred.make<void>()
        const may = yield* Deferred.make<void>()
        const slow = Effect.gen(function* () {
          yield* Deferred.succeed(begun, undefined)
          yield* Deferred.await(may)
          return { text: "done", outcome: "kept" as const }
        })
        const caller = yield* Effect.forkChild(idempotency.once(request("gone"), slow))
        yield* Deferred.await(begun)
        const gone = yield* Effect.forkChild(Fiber.interrupt(caller))
        yield* Deferred.succeed(may, undefined)
        yield* Fiber.join(gone)
        expect(yield* idempotency.once(request("gone"), answering("again"))).toEqual({ text: "done", replayed: true })
      })
    )
  })
})
