/**
 * The SQL of idempotency keys. A key of a workspace has one row: first a claim with a lease, then the sealed first
 * answer.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../database/RowDecoder.ts"
import type { Attempt } from "./Attempt.ts"

export interface Claim {
  readonly workspaceId: string
  readonly key: string
  /** SHA-256 of the request, lowercase hex. */
  readonly requestHash: string
  /** The attempt's id if the key is new. */
  readonly attemptId: string
  readonly now: Date
  readonly lockedUntil: Date
  /** Rows created before this time have expired. */
  readonly expiredBefore: Date
}

const StoredAnswer = Schema.Struct({ requestHash: Schema.String, response: Schema.NullOr(Schema.Uint8Array) })
export type StoredAnswer = typeof StoredAnswer.Type

const storedRows = rowsOf("IdempotencyStore", StoredAnswer)
const attemptRows = rowsOf("IdempotencyStore", Schema.Struct({ attemptId: Schema.String }))

/**
 * Selects and locks the row of a key if this run still owns it, so that no other run takes it over before the commit.
 * No row if another run owns the key.
 */
export const lockOwnAttempt = (sql: SqlClient.SqlClient, workspaceId: string, { id, key, lockedUntil }: Attempt) =>
  sql`select 1 as one from idempotency_keys where workspace_id = ${workspaceId} and key = ${key}
    and attempt_id = ${id} and locked_until = ${lockedUntil}::timestamptz and response is null for share`

export class IdempotencyStore extends Context.Service<
  IdempotencyStore,
  {
    /**
     * Claims the key for a run. Returns the attempt's id if the caller may run the request now: the key is new or
     * expired, or the lease of an earlier run ended. Undefined otherwise.
     */
    readonly claim: (claim: Claim) => Effect.Effect<string | undefined>
    readonly find: (workspaceId: string, key: string) => Effect.Effect<StoredAnswer | undefined>
    /** Stores the answer. False if another run owns the key by now. */
    readonly finish: (claim: Claim, response: Uint8Array) => Effect.Effect<boolean>
    /** Deletes the row of an unfinished run, as if the key had never been used. */
    readonly release: (claim: Claim) => Effect.Effect<void>
    /**
     * Ends the lease, so that the same request may run again at once as the same attempt. The run may have created its
     * resource.
     */
    readonly reopen: (claim: Claim) => Effect.Effect<void>
    /** Ends the lease of a claim that may not have committed. A key that another run owns stays unchanged. */
    readonly reopenUnconfirmed: (claim: Claim) => Effect.Effect<void>
    /** Deletes up to `limit` expired rows and returns their number. */
    readonly sweep: (expiredBefore: Date, limit: number) => Effect.Effect<number>
  }
>()("@sluice/domain/idempotency/IdempotencyStore") {
  static readonly layer = Layer.effect(
    IdempotencyStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ownRow = (claim: Claim) => sql`workspace_id = ${claim.workspaceId} and key = ${claim.key} and
        locked_until = ${claim.lockedUntil}::timestamptz and response is null`

      return IdempotencyStore.of({
        claim: (claim) =>
          sql`insert into idempotency_keys as k
              (workspace_id, key, request_hash, attempt_id, locked_until, created_at)
            values (${claim.workspaceId}, ${claim.key}, decode(${claim.requestHash}, 'hex'), ${claim.attemptId},
              ${claim.lockedUntil}::timestamptz, ${claim.now}::timestamptz)
            on conflict (workspace_id, key) do update set locked_until = excluded.locked_until, response = null,
              request_hash = excluded.request_hash,
              attempt_id = case when k.created_at < ${claim.expiredBefore}::timestamptz then excluded.attempt_id else k.attempt_id end,
              created_at = case when k.created_at < ${claim.expiredBefore}::timestamptz then excluded.created_at else k.created_at end
            where k.created_at < ${claim.expiredBefore}::timestamptz or (k.response is null and
              k.locked_until <= ${claim.now}::timestamptz and k.request_hash = excluded.request_hash)
            returning k.attempt_id as "attemptId"`.pipe(
            Effect.map((rows) => attemptRows(rows)[0]?.attemptId),
            Effect.orDie
          ),
        find: (workspaceId, key) =>
          sql`select encode(request_hash, 'hex') as "requestHash", response from idempotency_keys
            where workspace_id = ${workspaceId} and key = ${key}`.pipe(
            Effect.map((rows) => storedRows(rows)[0]),
            Effect.orDie
          ),
        finish: (claim, response) =>
          sql`update idempotency_keys set response = ${response}::bytea where ${ownRow(claim)} returning 1 as one`.pipe(
            Effect.map((rows) => rows.length > 0),
            Effect.orDie
          ),
        release: (claim) => sql`delete from idempotency_keys where ${ownRow(claim)}`.pipe(Effect.orDie, Effect.asVoid),
        reopen: (claim) =>
          sql`update idempotency_keys set locked_until = '1970-01-01Z' where ${ownRow(claim)}`.pipe(
            Effect.orDie,
            Effect.asVoid
          ),
        reopenUnconfirmed: (claim) =>
          sql`update idempotency_keys set locked_until = '1970-01-01Z'
            where ${ownRow(claim)} and attempt_id = ${claim.attemptId}`.pipe(Effect.orDie, Effect.asVoid),
        sweep: (expiredBefore, limit) =>
          sql`delete from idempotency_keys where ctid in (select ctid from idempotency_keys
            where created_at < ${expiredBefore}::timestamptz limit ${limit}) returning 1 as one`.pipe(
            Effect.map((rows) => rows.length),
            Effect.orDie
          )
      })
    })
  )
}
