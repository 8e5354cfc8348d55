/**
 * The SQL of volumes. Every statement about a caller's volume names the workspace and the environment, so a volume of
 * another one is never found. One statement deletes a volume and records the deletion for the provider.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import { Context, Effect, Layer, Schema } from "effect"
import { retryUnconfirmed } from "../database/StatementRetry.ts"
import { IdempotencyInProgress } from "../idempotency/Idempotency.ts"
import { type Attempt } from "../idempotency/Attempt.ts"
import { lockOwnAttempt } from "../idempotency/IdempotencyStore.ts"
import { type Page, type PageRequest, pageOf } from "../database/Page.ts"
import { rowsOf, totalOf } from "../database/RowDecoder.ts"
import type { Volume } from "./Volume.ts"
import { VolumeBeingDeleted, VolumeNameTaken } from "./Volume.ts"

/** The workspace and environment of a volume. */
export interface VolumeOwner {
  readonly workspaceId: string
  readonly environmentId: string
}

export interface NewVolume {
  readonly id: string
  readonly name: string
  readonly region: string
  readonly sizeGb: number
}

const REMOVE = `with gone as (delete from volumes where workspace_id = $1 and environment_id = $2 and id = $3 and attached_to is null returning id)
  insert into volume_deletions (id, deleted_at, wake_at) select id, $4, $4 from gone
  on conflict (id) do update set deleted_at = excluded.deleted_at, wake_at = excluded.wake_at returning id`

/**
 * Postpones deletions before the provider is asked: if it fails or this replica dies, a later sweep repeats the
 * deletion.
 */
const CLAIM = `update volume_deletions set wake_at = $2 where id = any(array(select d.id from volume_deletions d
    where d.wake_at <= $1 and not exists (select from volumes v where v.id = d.id)
    order by d.wake_at, d.id limit $3 for update of d skip locked))
  returning id`

const Row = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  region: Schema.String,
  sizeGb: Schema.Number,
  usedBytes: Schema.BigInt,
  attachedTo: Schema.NullOr(Schema.String),
  createdAt: Schema.Date
})
const volumeRows = rowsOf("VolumeStore", Row)
const idRows = rowsOf("VolumeStore", Schema.Struct({ id: Schema.String }))

export class VolumeStore extends Context.Service<
  VolumeStore,
  {
    /**
     * Inserts a volume. A second insert with the same id returns the same volume. Fails while a volume with this id is
     * being deleted, and if another run owns the Idempotency-Key by now.
     */
    readonly insert: (
      owner: VolumeOwner,
      volume: NewVolume,
      now: Date,
      attempt?: Attempt
    ) => Effect.Effect<Volume, VolumeNameTaken | VolumeBeingDeleted | IdempotencyInProgress>
    /** The number of volumes of a workspace, without the volume `besides`. */
    readonly count: (workspaceId: string, besides: string) => Effect.Effect<number>
    readonly get: (owner: VolumeOwner, id: string) => Effect.Effect<Volume | undefined>
    readonly list: (owner: VolumeOwner, page: PageRequest) => Effect.Effect<Page<Volume>>
    /** Deletes a volume that no machine mounts, and records the deletion for the provider. False if there is none. */
    readonly removeDetached: (owner: VolumeOwner, id: string, now: Date) => Effect.Effect<boolean>
    /**
     * Claims up to `limit` deleted volumes that the provider has not deleted yet. They are not claimed again before
     * `retryAt`.
     */
    readonly claimDeleted: (now: Date, retryAt: Date, limit: number) => Effect.Effect<ReadonlyArray<string>>
    /** Deletes the record after the provider deleted the volume. */
    readonly forget: (id: string) => Effect.Effect<void>
    /** Enlarges a volume. Undefined if there is none, if it is already larger, or if a machine mounts it. */
    readonly grow: (owner: VolumeOwner, id: string, sizeGb: number) => Effect.Effect<Volume | undefined>
  }
>()("@sluice/domain/storage/VolumeStore") {
  static readonly layer = Layer.effect(
    VolumeStore,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const columns = sql`id, name, region, size_gb as "sizeGb", used_bytes as "usedBytes", attached_to as "attachedTo",
        created_at as "createdAt"`
      const of = (owner: VolumeOwner) =>
        sql`workspace_id = ${owner.workspaceId} and environment_id = ${owner.environmentId}`
      const find = (owner: VolumeOwner, id: string) =>
        Effect.map(sql`select ${columns} from volumes where ${of(owner)} and id = ${id}`, first)

      return VolumeStore.of({
        insert: Effect.fnUntraced(
          function* (owner, volume, now, attempt) {
            const attemptRow =
              attempt === undefined ? sql`select 1 as one` : lockOwnAttempt(sql, owner.workspaceId, attempt)
            yield* sql`with mine as materialized (${attemptRow})
            insert into volumes (id, workspace_id, environment_id, name, region, size_gb, created_at)
            select ${volume.id}::uuid, ${owner.workspaceId}::uuid, ${owner.environmentId}::uuid, ${volume.name}, ${volume.region},
              ${volume.sizeGb}::int4, ${now}::timestamptz from mine where not exists (select from volume_deletions where id = ${volume.id})
            on conflict (id) do nothing`.pipe(
              Effect.catchIf(
                (error) => error.reason._tag === "UniqueViolation",
                () => Effect.fail(new VolumeNameTaken({ name: volume.name }))
              )
            )
            // An id belongs to one request, and the request names its environment: no other environment can have this
            // id.
            const existing = yield* find(owner, volume.id)
            if (existing !== undefined) return existing
            if ((yield* attemptRow).length === 0) return yield* new IdempotencyInProgress()
            return yield* new VolumeBeingDeleted({ id: volume.id })
          },
          retryUnconfirmed,
          Effect.catchTag("SqlError", Effect.die)
        ),
        count: (workspaceId, besides) =>
          sql`select count(*) as total from volumes where workspace_id = ${workspaceId} and id <> ${besides}`.pipe(
            Effect.map(totalOf),
            Effect.orDie
          ),
        get: (owner, id) => Effect.orDie(find(owner, id)),
        list: Effect.fnUntraced(function* (owner, page) {
          const after = page.after === undefined ? sql`true` : sql`id < ${page.after}`
          const rows = yield* sql`select ${columns} from volumes where ${of(owner)} and ${after}
            order by id desc limit ${page.limit + 1}`
          const counts = yield* sql`select count(*) as total from volumes where ${of(owner)}`
          return pageOf(volumeRows(rows).map(toVolume), page, totalOf(counts))
        }, Effect.orDie),
        removeDetached: (owner, id, now) =>
          sql.unsafe(REMOVE, [owner.workspaceId, owner.environmentId, id, now]).pipe(
            Effect.map((rows) => rows.length > 0),
            Effect.orDie
          ),
        claimDeleted: (now, retryAt, limit) =>
          sql.unsafe(CLAIM, [now, retryAt, limit]).pipe(
            Effect.map((rows) => idRows(rows).map(({ id }) => id)),
            Effect.orDie
          ),
        forget: (id) => sql`delete from volume_deletions where id = ${id}`.pipe(Effect.asVoid, Effect.orDie),
        grow: (owner, id, sizeGb) =>
          sql`update volumes set size_gb = ${sizeGb} where ${of(owner)} and id = ${id} and size_gb <= ${sizeGb}
            and attached_to is null
            returning ${columns}`.pipe(Effect.map(first), Effect.orDie)
      })
    })
  )
}

const toVolume = (row: typeof Row.Type): Volume => ({ ...row, usedBytes: Number(row.usedBytes) })
const first = (rows: ReadonlyArray<object>): Volume | undefined => {
  const [row] = volumeRows(rows)
  return row === undefined ? undefined : toVolume(row)
}
