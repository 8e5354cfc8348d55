/** The SQL of volumes. Every statement names workspace and environment: another's volume is as good as none. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type Page, type PageRequest, pageOf } from "../database/Page.ts"
import type { Volume } from "./Volume.ts"
import { VolumeNameTaken } from "./Volume.ts"

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

export class VolumeStore extends Context.Service<
  VolumeStore,
  {
    /** The same id again gives the same volume. */
    readonly insert: (owner: VolumeOwner, volume: NewVolume, now: Date) => Effect.Effect<Volume, VolumeNameTaken>
    /** How many a workspace has, beside this one. */
    readonly count: (workspaceId: string, besides: string) => Effect.Effect<number>
    readonly get: (owner: VolumeOwner, id: string) => Effect.Effect<Volume | undefined>
    readonly list: (owner: VolumeOwner, page: PageRequest) => Effect.Effect<Page<Volume>>
    /** Deletes it unless a machine has it; says whether it did. */
    readonly removeDetached: (owner: VolumeOwner, id: string) => Effect.Effect<boolean>
    /** Makes it larger; undefined when there is none, it is larger already, or a machine has it. */
    readonly grow: (owner: VolumeOwner, id: string, sizeGb: number) => Effect.Effect<Volume | undefined>
  }
>()("@sluice/domain/storage/VolumeStore") {
  static readonly layer = Layer.effect(
    VolumeStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const columns = sql`id, name, region, size_gb as "sizeGb", used_bytes as "usedBytes", attached_to as "attachedTo",
        created_at as "createdAt"`
      const of = (owner: VolumeOwner) =>
        sql`workspace_id = ${owner.workspaceId} and environment_id = ${owner.environmentId}`
      const get = (owner: VolumeOwner, id: string) =>
        sql<Row>`select ${columns} from volumes where ${of(owner)} and id = ${id}`.pipe(Effect.map(first), Effect.orDie)

      return VolumeStore.of({
        insert: Effect.fnUntraced(function* (owner, volume, now) {
          yield* sql`insert into volumes (id, workspace_id, environment_id, name, region, size_gb, created_at)
            values (${volume.id}, ${owner.workspaceId}, ${owner.environmentId}, ${volume.name}, ${volume.region},
              ${volume.sizeGb}, ${now}::timestamptz) on conflict (id) do nothing`.pipe(
            Effect.catchIf(
              (error) => error.reason._tag === "UniqueViolation",
              () => Effect.fail(new VolumeNameTaken({ name: volume.name }))
            ),
            Effect.catchTag("SqlError", Effect.die)
          )
          return (yield* get(owner, volume.id)) ?? (yield* Effect.die("a volume's id belongs to another environment"))
        }),
        count: (workspaceId, besides) =>
          sql<{
            count: bigint
          }>`select count(*) as count from volumes where workspace_id = ${workspaceId} and id <> ${besides}`.pipe(
            Effect.map((rows) => Number(rows[0]?.count ?? 0n)),
            Effect.orDie
          ),
        get,
        list: Effect.fnUntraced(function* (owner, page) {
          const after = page.after === undefined ? sql`true` : sql`id < ${page.after}`
          const rows = yield* sql<Row>`select ${columns} from volumes where ${of(owner)} and ${after}
            order by id desc limit ${page.limit + 1}`
          const [count] = yield* sql<{ total: bigint }>`select count(*) as total from volumes where ${of(owner)}`
          return pageOf(rows.map(toVolume), page, Number(count?.total ?? 0n))
        }, Effect.orDie),
        removeDetached: (owner, id) =>
          sql`delete from volumes where ${of(owner)} and id = ${id} and attached_to is null returning id`.pipe(
            Effect.map((rows) => rows.length > 0),
            Effect.orDie
          ),
        grow: (owner, id, sizeGb) =>
          sql<Row>`update volumes set size_gb = ${sizeGb} where ${of(owner)} and id = ${id} and size_gb <= ${sizeGb}
            and attached_to is null
            returning ${columns}`.pipe(Effect.map(first), Effect.orDie)
      })
    })
  )
}

type Row = Omit<Volume, "usedBytes"> & { readonly usedBytes: bigint }

const toVolume = (row: Row): Volume => ({ ...row, usedBytes: Number(row.usedBytes) })
const first = (rows: ReadonlyArray<Row>): Volume | undefined => (rows[0] === undefined ? undefined : toVolume(rows[0]))
