/**
 * The SQL of volumes. Every statement about a caller's volume names workspace and environment: another's is as good as none.
 * A volume goes and the wish that its provider deletes it comes in one statement.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import { Context, Effect, Layer, Schema } from "effect"
import { retryUnconfirmed } from "../database/StatementRetry.ts"
import { IdempotencyInProgress } from "../idempotency/Idempotency.ts"
import { type Attempt } from "../idempotency/Attempt.ts"
import { ownRun } from "../idempotency/IdempotencyStore.ts"
import { type Page, type PageRequest, pageOf } from "../database/Page.ts"
import { rowsOf, totalOf } from "../database/RowDecoder.ts"
import type { Volume } from "./Volume.ts"
import { VolumeBeingDeleted, VolumeNameTaken } from "./Volume.ts"

/** Where a volume lives. */
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

/** Their turn is put off before they are asked for: whoever fails or dies over one leaves it to a later turn. */
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
     * The same id again gives the same volume; one that is being deleted is not made anew before that is done. A run that has
     * lost its Idempotency-Key makes none.
     */
    readonly insert: (
      owner: VolumeOwner,
      volume: NewVolume,
      now: Date,
      attempt?: Attempt
    ) => Effect.Effect<Volume, VolumeNameTaken | VolumeBeingDeleted | IdempotencyInProgress>
    /** How many a workspace has, beside this one. */
    readonly count: (workspaceId: string, besides: string) => Effect.Effect<number>
    readonly get: (owner: VolumeOwner, id: string) => Effect.Effect<Volume | undefined>
    readonly list: (owner: VolumeOwner, page: PageRequest) => Effect.Effect<Page<Volume>>
    /** Deletes it unless a machine has it, and records that its provider is to do the same; says whether it did. */
    readonly removeDetached: (owner: VolumeOwner, id: string, now: Date) => Effect.Effect<boolean>
    /** Up to `limit` of the deleted volumes that the provider has not deleted yet; whoever asks again before `again` misses them. */
    readonly claimDeleted: (now: Date, again: Date, limit: number) => Effect.Effect<ReadonlyArray<string>>
    /** The provider has deleted it. */
    readonly forget: (id: string) => Effect.Effect<void>
    /** Makes it larger; undefined when there is none, it is larger already, or a machine has it. */
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
            const mine = attempt === undefined ? sql`select 1 as one` : ownRun(sql, owner.workspaceId, attempt)
            yield* sql`with mine as materialized (${mine})
            insert into volumes (id, workspace_id, environment_id, name, region, size_gb, created_at)
            select ${volume.id}::uuid, ${owner.workspaceId}::uuid, ${owner.environmentId}::uuid, ${volume.name}, ${volume.region},
              ${volume.sizeGb}::int4, ${now}::timestamptz from mine where not exists (select from volume_deletions where id = ${volume.id})
            on conflict (id) do nothing`.pipe(
              Effect.catchIf(
                (error) => error.reason._tag === "UniqueViolation",
                () => Effect.fail(new VolumeNameTaken({ name: volume.name }))
              )
            )
            // Ids are a request's own, and a request names its environment: no other can have this one.
            const found = yield* find(owner, volume.id)
            if (found !== undefined) return found
            if ((yield* mine).length === 0) return yield* new IdempotencyInProgress()
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
        claimDeleted: (now, again, limit) =>
          sql.unsafe(CLAIM, [now, again, limit]).pipe(
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
