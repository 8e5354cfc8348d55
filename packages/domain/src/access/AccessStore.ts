/** The SQL of API keys. A look-up by hash finds the workspace; every other statement names the workspace. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Attempt } from "../idempotency/Attempt.ts"
import { lockOwnAttempt } from "../idempotency/IdempotencyStore.ts"
import { retryUnconfirmed } from "../database/StatementRetry.ts"
import { type Page, type PageRequest, pageOf } from "../database/Page.ts"
import { jsonOf, rowsOf, totalOf } from "../database/RowDecoder.ts"
import type { ApiKey } from "./ApiKey.ts"
import type { Scope } from "./Principal.ts"

/** An active key, with the environment that a request with this key selects. */
const AccessRow = Schema.Struct({
  keyId: Schema.String,
  workspaceId: Schema.String,
  scopes: Schema.NullOr(jsonOf<ReadonlyArray<Scope>>()),
  rateLimitRpm: Schema.Number,
  lastUsedAt: Schema.NullOr(Schema.Date),
  /** Null: the workspace has no such environment. */
  environmentId: Schema.NullOr(Schema.String),
  environmentName: Schema.NullOr(Schema.String)
})
export type AccessRow = typeof AccessRow.Type

const accessRows = rowsOf("AccessStore", AccessRow)
const keyRows = rowsOf(
  "AccessStore",
  Schema.Struct({
    id: Schema.String,
    name: Schema.String,
    prefix: Schema.String,
    status: Schema.Literals(["active", "inactive"]),
    scopes: Schema.NullOr(jsonOf<ReadonlyArray<Scope>>()),
    environmentId: Schema.NullOr(Schema.String),
    rateLimitRpm: Schema.Number,
    lastUsedAt: Schema.NullOr(Schema.Date),
    createdAt: Schema.Date
  })
)
const firstKey = (rows: ReadonlyArray<object>): ApiKey | undefined => keyRows(rows)[0]

export interface NewKey {
  readonly id: string
  readonly workspaceId: string
  readonly name: string
  readonly prefix: string
  /** Lowercase hex. */
  readonly hash: string
  readonly scopes: ReadonlyArray<Scope> | null
  readonly environmentId: string | null
  readonly rateLimitRpm: number
}

export interface KeyChange {
  readonly name: string | undefined
  readonly status: "active" | "inactive" | undefined
  readonly rateLimitRpm: number | undefined
}

/** `last_used_at` is written at most once in this time, so that a busy key does not cost one write a request. */
export const TOUCH_AFTER_MS = 60_000

export class AccessStore extends Context.Service<
  AccessStore,
  {
    /** `environment`: an id or a name; undefined selects the key's own environment, or else the default one. */
    readonly find: (hash: string, environment: string | undefined) => Effect.Effect<AccessRow | undefined>
    /** Records the use of a key, at most once a minute over all replicas. */
    readonly touch: (keyId: string, now: Date) => Effect.Effect<void>
    /**
     * Inserts a key. If the id exists, an earlier run of the same attempt made the row and returned no secret to its
     * caller: the row gets the new secret. Undefined if another run of the request owns the attempt by now; that run
     * returns its own key.
     */
    readonly insert: (key: NewKey, now: Date, attempt?: Attempt) => Effect.Effect<ApiKey | undefined>
    /** The number of keys of a workspace, without the key `besides`. */
    readonly count: (workspaceId: string, besides: string) => Effect.Effect<number>
    readonly list: (workspaceId: string, page: PageRequest) => Effect.Effect<Page<ApiKey>>
    readonly update: (workspaceId: string, id: string, change: KeyChange) => Effect.Effect<ApiKey | undefined>
    /** False if the workspace has no such key. */
    readonly remove: (workspaceId: string, id: string) => Effect.Effect<boolean>
    readonly environmentExists: (workspaceId: string, id: string) => Effect.Effect<boolean>
  }
>()("@sluice/domain/access/AccessStore") {
  static readonly layer = Layer.effect(
    AccessStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const columns = sql`id, name, prefix, status, scopes, environment_id as "environmentId",
        rate_limit_rpm as "rateLimitRpm", last_used_at as "lastUsedAt", created_at as "createdAt"`

      return AccessStore.of({
        find: (hash, environment) =>
          sql`select k.id as "keyId", k.workspace_id as "workspaceId", k.scopes, k.rate_limit_rpm as "rateLimitRpm",
              k.last_used_at as "lastUsedAt", e.id as "environmentId", e.name as "environmentName"
            from api_keys k left join environments e on e.workspace_id = k.workspace_id and
              case when ${environment ?? null}::text is not null then e.id::text = lower(${environment ?? null}) or e.name = ${environment ?? null}
                when k.environment_id is not null then e.id = k.environment_id else e.is_default end
            where k.hash = decode(${hash}, 'hex') and k.status = 'active'
            order by (e.id::text = lower(${environment ?? null})) desc nulls last limit 1`.pipe(
            Effect.map((rows) => accessRows(rows)[0]),
            Effect.orDie
          ),
        touch: (keyId, now) =>
          sql`update api_keys set last_used_at = ${now}::timestamptz where id = ${keyId} and
            (last_used_at is null or last_used_at <= ${new Date(now.getTime() - TOUCH_AFTER_MS)}::timestamptz)`.pipe(
            Effect.orDie,
            Effect.asVoid
          ),
        insert: (key, now, attempt) => {
          const attemptRow =
            attempt === undefined ? sql`select 1 as one` : lockOwnAttempt(sql, key.workspaceId, attempt)
          return retryUnconfirmed(sql`with mine as materialized (${attemptRow})
            insert into api_keys as k
              (id, workspace_id, name, prefix, hash, status, scopes, environment_id, rate_limit_rpm, created_at)
            select ${key.id}::uuid, ${key.workspaceId}::uuid, ${key.name}, ${key.prefix}, decode(${key.hash}, 'hex'), 'active',
              ${key.scopes === null ? null : JSON.stringify(key.scopes)}::json, ${key.environmentId}::uuid, ${key.rateLimitRpm}::int4,
              ${now}::timestamptz from mine
            on conflict (id) do update set prefix = excluded.prefix, hash = excluded.hash
              where k.workspace_id = excluded.workspace_id
            returning ${columns}`).pipe(Effect.map(firstKey), Effect.orDie)
        },
        count: (workspaceId, besides) =>
          sql`select count(*) as total from api_keys where workspace_id = ${workspaceId} and id <> ${besides}`.pipe(
            Effect.map(totalOf),
            Effect.orDie
          ),
        list: Effect.fnUntraced(function* (workspaceId, page) {
          const after = page.after === undefined ? sql`true` : sql`id < ${page.after}`
          const rows = yield* sql`select ${columns} from api_keys
            where workspace_id = ${workspaceId} and ${after} order by id desc limit ${page.limit + 1}`
          const counts = yield* sql`select count(*) as total from api_keys where workspace_id = ${workspaceId}`
          return pageOf<ApiKey>(keyRows(rows), page, totalOf(counts))
        }, Effect.orDie),
        update: (workspaceId, id, change) =>
          sql`update api_keys set name = coalesce(${change.name ?? null}::text, name),
              status = coalesce(${change.status ?? null}::text, status),
              rate_limit_rpm = coalesce(${change.rateLimitRpm ?? null}::int4, rate_limit_rpm)
            where workspace_id = ${workspaceId} and id = ${id} returning ${columns}`.pipe(
            Effect.map(firstKey),
            Effect.orDie
          ),
        remove: (workspaceId, id) =>
          sql`delete from api_keys where workspace_id = ${workspaceId} and id = ${id} returning id`.pipe(
            Effect.map((rows) => rows.length > 0),
            Effect.orDie
          ),
        environmentExists: (workspaceId, id) =>
          sql`select id from environments where workspace_id = ${workspaceId} and id = ${id}`.pipe(
            Effect.map((rows) => rows.length > 0),
            Effect.orDie
          )
      })
    })
  )
}
