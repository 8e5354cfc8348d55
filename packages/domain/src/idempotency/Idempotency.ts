/**
 * The same request once: the first answer to a key is kept sealed for 24 hours and given again (decisions: Infrastructure
 * surface, Idempotency-Key). It knows nothing of routes: a request is a hash, an answer is a text.
 *
 * A run that never ended (the process died) is run again after its lease, one that failed at once, both with the same
 * `attemptId`, under which they create the same rows: a database that was lost may have kept what it did not confirm. A run
 * goes on when its caller has gone, so that a retry finds its answer.
 */
import { type Attempt, CurrentAttempt } from "./Attempt.ts"
import { Clock, Context, Crypto, Duration, Effect, Exit, Fiber, Layer, Redacted, Schedule, Schema } from "effect"
import { Seal } from "../database/Seal.ts"
import * as Sweep from "../database/Sweep.ts"
import type { Claim } from "./IdempotencyStore.ts"
import { IdempotencyStore } from "./IdempotencyStore.ts"

const LEASE_MS = 60_000
/** A database that is away is told again that a run has failed, until the lease says so by itself. */
const HAND_BACK = { schedule: Schedule.spaced(Duration.seconds(1)), times: LEASE_MS / 1_000 }
/** The caller waits for it no longer. */
const HANDED_BACK_WITHIN = Duration.seconds(1)
const LIFE_MS = 24 * 60 * 60_000
const SWEEP_EVERY = Duration.hours(1)
const SWEEP_ROWS = 10_000

/** The key was used for another request. */
export class IdempotencyMismatch extends Schema.TaggedError<IdempotencyMismatch>()("IdempotencyMismatch", {}) {}

/** The first request with this key has no answer yet. */
export class IdempotencyInProgress extends Schema.TaggedError<IdempotencyInProgress>()("IdempotencyInProgress", {}) {}

export interface KeyedRequest {
  readonly workspaceId: string
  /** 1 to MAX_IDEMPOTENCY_KEY characters, given by the caller. */
  readonly key: string
  /** SHA-256 of all that makes the request what it is, lowercase hex. */
  readonly requestHash: string
}

/**
 * `kept`: the key stands for this answer. `none`: nothing was begun, the key is free for another request. `unknown`: what
 * was begun may be there; the same request runs again, as the same attempt.
 */
export type Outcome = "kept" | "none" | "unknown"

export interface FirstAnswer {
  readonly text: string
  readonly outcome: Outcome
}

export class Idempotency extends Context.Service<
  Idempotency,
  {
    /** Runs the request, or gives the text of its first answer with `replayed`. */
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
      yield* Effect.forkScoped(sweeping(store))

      const persist = (handBack: Effect.Effect<void>) =>
        Effect.exit(handBack).pipe(
          Effect.repeat({ ...HAND_BACK, while: Exit.isFailure }),
          Effect.forkIn(scope),
          Effect.flatMap((fiber) => Effect.timeoutOption(Fiber.await(fiber), HANDED_BACK_WITHIN))
        )
      const settle = (claim: Claim, { outcome, text }: FirstAnswer) =>
        outcome === "kept"
          ? store.finish(claim, seal.seal(Redacted.make(text), aad(claim.workspaceId, claim.key)))
          : Effect.as(outcome === "none" ? store.release(claim) : store.handBack(claim), true)

      const replay = Effect.fnUntraced(function* (request: KeyedRequest) {
        const held = yield* store.held(request.workspaceId, request.key)
        if (held !== undefined && held.requestHash !== request.requestHash) return yield* new IdempotencyMismatch()
        if (held === undefined || held.response === null) return yield* new IdempotencyInProgress()
        const text = yield* Effect.orDie(seal.open(held.response, aad(request.workspaceId, request.key)))
        return { text: Redacted.value(text), replayed: true }
      })
      const first = <E, R>(claim: Claim, attempt: Attempt, run: Effect.Effect<FirstAnswer, E, R>) =>
        run.pipe(
          Effect.provideService(CurrentAttempt, attempt),
          Effect.flatMap((answer) => Effect.map(settle(claim, answer), (stands) => ({ answer, stands }))),
          Effect.tapCause(() => persist(store.handBack(claim))),
          // Of two runs, the second of which took the key over, one answer is told: that of the one that has it.
          Effect.flatMap(({ answer, stands }) =>
            stands ? Effect.succeed({ text: answer.text, replayed: false }) : replay(claim)
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
            expiredBefore: new Date(now - LIFE_MS)
          }
          // Whose claim is cut off, or its answer lost, may have it all the same: a key is never held by nobody.
          const id = yield* Effect.tapCause(store.claim(claim), () => persist(store.handBackUnsure(claim)))
          if (id === undefined) return yield* replay(request)
          return yield* first(
            claim,
            { id, again: id !== claim.attemptId, key: claim.key, lockedUntil: claim.lockedUntil },
            run
          )
        }, Effect.uninterruptible)
      })
    })
  )

  static readonly layer = Idempotency.layerNoDeps.pipe(Layer.provide(IdempotencyStore.layer))
}

const aad = (workspaceId: string, key: string) => `idempotency_keys:response:${workspaceId}:${key}`

const sweeping = (store: IdempotencyStore["Service"]) =>
  Clock.currentTimeMillis.pipe(
    Effect.flatMap((now) => store.sweep(new Date(now - LIFE_MS), SWEEP_ROWS)),
    Effect.repeat({ while: (deleted) => deleted === SWEEP_ROWS }),
    (sweep) => Sweep.every("idempotency keys", SWEEP_EVERY, sweep)
  )
