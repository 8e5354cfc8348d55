/** The SQL of idempotency keys: one row a key of a workspace, claimed for a time, then holding the sealed first answer. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../database/RowDecoder.ts"
import type { Attempt } from "./Attempt.ts"

export interface Claim {
  readonly workspaceId: string
  readonly key: string
  /** SHA-256 of the request, lowercase hex. */
  readonly requestHash: string
  /** The id to use when the key is new. */
  readonly attemptId: string
  readonly now: Date
  readonly lockedUntil: Date
  /** Rows made before this time count as none. */
  readonly expiredBefore: Date
}

const Held = Schema.Struct({ requestHash: Schema.String, response: Schema.NullOr(Schema.Uint8Array) })
export type Held = typeof Held.Type

const heldRows = rowsOf("IdempotencyStore", Held)
const attemptRows = rowsOf("IdempotencyStore", Schema.Struct({ attemptId: Schema.String }))

/** Nothing, where another run has the key by now; else a row, locked: nobody takes it over before the commit. */
export const ownRun = (sql: SqlClient.SqlClient, workspaceId: string, { id, key, lockedUntil }: Attempt) =>
  sql`select 1 as one from idempotency_keys where workspace_id = ${workspaceId} and key = ${key}
    and attempt_id = ${id} and locked_until = ${lockedUntil}::timestamptz and response is null for share`

export class IdempotencyStore extends Context.Service<
  IdempotencyStore,
  {
    /** The attempt's id when the caller may run the request now: new key, expired key, or an earlier run that never ended. */
    readonly claim: (claim: Claim) => Effect.Effect<string | undefined>
    readonly held: (workspaceId: string, key: string) => Effect.Effect<Held | undefined>
    /** Stores the answer unless another run took the key over since; says whether it did. */
    readonly finish: (claim: Claim, response: Uint8Array) => Effect.Effect<boolean>
    /** Gives an unfinished key back, as if it had never been used. */
    readonly release: (claim: Claim) => Effect.Effect<void>
    /** Lets the same request run again at once, as the same attempt: what it made may be there. */
    readonly handBack: (claim: Claim) => Effect.Effect<void>
    /** The same for a claim of which nobody knows whether it is there: a key that another run has stays with that. */
    readonly handBackUnsure: (claim: Claim) => Effect.Effect<void>
    /** Deletes up to `limit` expired rows and says how many there were. */
    readonly sweep: (expiredBefore: Date, limit: number) => Effect.Effect<number>
  }
>()("@sluice/domain/idempotency/IdempotencyStore") {
  static readonly layer = Layer.effect(
    IdempotencyStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const mine = (claim: Claim) => sql`workspace_id = ${claim.workspaceId} and key = ${claim.key} and
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
        held: (workspaceId, key) =>
          sql`select encode(request_hash, 'hex') as "requestHash", response from idempotency_keys
            where workspace_id = ${workspaceId} and key = ${key}`.pipe(
            Effect.map((rows) => heldRows(rows)[0]),
            Effect.orDie
          ),
        finish: (claim, response) =>
          sql`update idempotency_keys set response = ${response}::bytea where ${mine(claim)} returning 1 as one`.pipe(
            Effect.map((rows) => rows.length > 0),
            Effect.orDie
          ),
        release: (claim) => sql`delete from idempotency_keys where ${mine(claim)}`.pipe(Effect.orDie, Effect.asVoid),
        handBack: (claim) =>
          sql`update idempotency_keys set locked_until = '1970-01-01Z' where ${mine(claim)}`.pipe(
            Effect.orDie,
            Effect.asVoid
          ),
        handBackUnsure: (claim) =>
          sql`update idempotency_keys set locked_until = '1970-01-01Z'
            where ${mine(claim)} and attempt_id = ${claim.attemptId}`.pipe(Effect.orDie, Effect.asVoid),
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
