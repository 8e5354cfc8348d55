/**
 * Idempotency keys: the first answer to a key is stored sealed for 24 hours and replayed (decisions: Infrastructure
 * surface, Idempotency-Key). This module knows no routes: a request is a hash, an answer is a text.
 *
 * A run that never ended (the process died) is repeated when its lease has ended; a run that failed is repeated at
 * once. Both use the same `attemptId`, under which they create the same rows, because a lost database connection may
 * have committed. A run continues after its caller disconnects, so that a retry finds its answer.
 */
import { type Attempt, CurrentAttempt } from "./Attempt.ts"
import { Clock, Context, Crypto, Duration, Effect, Exit, Fiber, Layer, Redacted, Schedule, Schema } from "effect"
import { Seal } from "../database/Seal.ts"
import * as Sweep from "../database/Sweep.ts"
import type { Claim } from "./IdempotencyStore.ts"
import { IdempotencyStore } from "./IdempotencyStore.ts"

const LEASE_MS = 60_000
/** If the database is unavailable, a failed run's key is reopened by retries, until its lease ends anyway. */
const REOPEN_RETRIES = { schedule: Schedule.spaced(Duration.seconds(1)), times: LEASE_MS / 1_000 }
/** Maximum time that the caller waits for its key to be reopened. */
const MAX_REOPEN_WAIT = Duration.seconds(1)
const KEY_LIFETIME_MS = 24 * 60 * 60_000
const SWEEP_INTERVAL = Duration.hours(1)
const SWEEP_ROWS = 10_000

/** The key was used for a different request. */
export class IdempotencyMismatch extends Schema.TaggedError<IdempotencyMismatch>()("IdempotencyMismatch", {}) {}

/** The first request with this key has no answer yet. */
export class IdempotencyInProgress extends Schema.TaggedError<IdempotencyInProgress>()("IdempotencyInProgress", {}) {}

export interface KeyedRequest {
  readonly workspaceId: string
  /** 1 to `MAX_IDEMPOTENCY_KEY` characters, chosen by the caller. */
  readonly key: string
  /** SHA-256 of everything that identifies the request, lowercase hex. */
  readonly requestHash: string
}

/**
 * Says how the key goes on after a run. `kept`: the answer is stored for the key. `none`: nothing was created, and the
 * key is free for another request. `unknown`: a resource may have been created, and the same request runs again as the
 * same attempt.
 */
export type Outcome = "kept" | "none" | "unknown"

export interface FirstAnswer {
  readonly text: string
  readonly outcome: Outcome
}

export class Idempotency extends Context.Service<
  Idempotency,
  {
    /** Runs the request, or returns its first answer with `replayed: true`. */
    readonly once: <E, R>(
      request: KeyedRequest,
      run: Effect.Effect<FirstAnswer, E, R>
    ) => Effect.Effect<
      { readonly text: string; readonly replayed: boolean },
      E | IdempotencyMismatch | IdempotencyInProgress,
      R
    >
  }
>()("@sluice/domain/idempotency/Idempotency") {
  static readonly layerNoDeps = Layer.effect(
    Idempotency,
    Effect.gen(function* () {
      const store = yield* IdempotencyStore
      const seal = yield* Seal
      const crypto = yield* Crypto.Crypto
      const scope = yield* Effect.scope
      yield* Effect.forkScoped(sweepLoop(store))

      const reopenPersistently = (reopen: Effect.Effect<void>) =>
        Effect.exit(reopen).pipe(
          Effect.repeat({ ...REOPEN_RETRIES, while: Exit.isFailure }),
          Effect.forkIn(scope),
          Effect.flatMap((fiber) => Effect.timeoutOption(Fiber.await(fiber), MAX_REOPEN_WAIT))
        )
      const settle = (claim: Claim, { outcome, text }: FirstAnswer) =>
        outcome === "kept"
          ? store.finish(claim, seal.seal(Redacted.make(text), aad(claim.workspaceId, claim.key)))
          : Effect.as(outcome === "none" ? store.release(claim) : store.reopen(claim), true)

      const replay = Effect.fnUntraced(function* (request: KeyedRequest) {
        const stored = yield* store.find(request.workspaceId, request.key)
        if (stored !== undefined && stored.requestHash !== request.requestHash) return yield* new IdempotencyMismatch()
        if (stored === undefined || stored.response === null) return yield* new IdempotencyInProgress()
        const text = yield* Effect.orDie(seal.open(stored.response, aad(request.workspaceId, request.key)))
        return { text: Redacted.value(text), replayed: true }
      })
      const runFirst = <E, R>(claim: Claim, attempt: Attempt, run: Effect.Effect<FirstAnswer, E, R>) =>
        run.pipe(
          Effect.provideService(CurrentAttempt, attempt),
          Effect.flatMap((answer) => Effect.map(settle(claim, answer), (isOwner) => ({ answer, isOwner }))),
          Effect.tapCause(() => reopenPersistently(store.reopen(claim))),
          // If another run took the key over meanwhile, only its answer may be returned, because only it is stored.
          Effect.flatMap(({ answer, isOwner }) =>
            isOwner ? Effect.succeed({ text: answer.text, replayed: false }) : replay(claim)
          )
        )

      return Idempotency.of({
        once: Effect.fnUntraced(function* (request, run) {
          const now = yield* Clock.currentTimeMillis
          const claim: Claim = {
            ...request,
            attemptId: yield* Effect.orDie(crypto.randomUUIDv7()),
            now: new Date(now),
            lockedUntil: new Date(now + LEASE_MS),
            expiredBefore: new Date(now - KEY_LIFETIME_MS)
          }
          // If the claim is interrupted or its result is lost, it may have committed. The key is reopened, because
          // otherwise nothing would use it until its lease ends.
          const id = yield* Effect.tapCause(store.claim(claim), () =>
            reopenPersistently(store.reopenUnconfirmed(claim))
          )
          if (id === undefined) return yield* replay(request)
          return yield* runFirst(
            claim,
            { id, isRetry: id !== claim.attemptId, key: claim.key, lockedUntil: claim.lockedUntil },
            run
          )
        }, Effect.uninterruptible)
      })
    })
  )

  static readonly layer = Idempotency.layerNoDeps.pipe(Layer.provide(IdempotencyStore.layer))
}

const aad = (workspaceId: string, key: string) => `idempotency_keys:response:${workspaceId}:${key}`

const sweepLoop = (store: IdempotencyStore["Service"]) =>
  Clock.currentTimeMillis.pipe(
    Effect.flatMap((now) => store.sweep(new Date(now - KEY_LIFETIME_MS), SWEEP_ROWS)),
    Effect.repeat({ while: (deleted) => deleted === SWEEP_ROWS }),
    (sweep) => Sweep.every("idempotency keys", SWEEP_INTERVAL, sweep)
  )
