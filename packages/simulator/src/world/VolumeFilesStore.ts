/** The files of the world's volumes: the versions that machines mount, and the versions that they leave. */
import { RelaxedSql } from "@sluice/domain/database/Clients"
import { Context, Effect, Layer } from "effect"
import type { VolumeEntry } from "@sluice/machine-shell/Shell"

interface Row {
  readonly path: string
  readonly kind: VolumeEntry["_tag"]
  readonly mode: number
  readonly bytes: Uint8Array
  readonly target: string
}

/** Bounds the file content of a statement, in bytes. A larger single file is a statement of its own. */
const BATCH_BYTES = 4 * 1024 * 1024
const BATCH_ROWS = 1_000
const EMPTY = new Uint8Array()

const make = Effect.gen(function* () {
  const sql = yield* RelaxedSql

  const insert = (volumeId: string, version: string, entries: ReadonlyArray<VolumeEntry>) =>
    sql`insert into sim_files (volume_id, version, path, kind, mode, bytes, target)
      select ${volumeId}, ${version}, * from unnest(
        ${entries.map((entry) => entry.path.toWellFormed())}::text[], ${entries.map((entry) => entry._tag)}::text[],
        ${entries.map((entry) => (entry._tag === "Link" ? 0 : entry.mode))}::int4[],
        ${entries.map((entry) => (entry._tag === "File" ? entry.bytes : EMPTY))}::bytea[],
        ${entries.map((entry) => (entry._tag === "Link" ? entry.target : ""))}::text[])`

  return {
    /** Returns the entries of a volume in one of its versions. */
    load: (volumeId: string, version: string) =>
      sql<Row>`select path, kind, mode, bytes, target from sim_files
        where volume_id = ${volumeId} and version = ${version} order by path collate "C"`.pipe(
        Effect.map((rows) => rows.map(entryOf)),
        Effect.orDie
      ),

    /** Returns the bytes of the files in one version. */
    size: (volumeId: string, version: string) =>
      sql<{ readonly size: bigint }>`select coalesce(sum(length(bytes)), 0)::int8 as size from sim_files
        where volume_id = ${volumeId} and version = ${version}`.pipe(
        Effect.map((rows) => Number(rows[0]!.size)),
        Effect.orDie
      ),

    /**
     * Makes the entries that a machine left the volume's content, and marks the machine saved: both or neither, and
     * once. With `entries` null the content stays as it is.
     */
    save: (key: string, volumeId: string, entries: ReadonlyArray<VolumeEntry> | null, volumeBytes: number) =>
      Effect.gen(function* () {
        const marked = yield* sql`
          update sim_machines set saved = true, volume_bytes = ${volumeBytes} where key = ${key} and not saved returning key`
        if (marked.length === 0 || entries === null) return
        for (const batch of batchesOf(entries)) yield* insert(volumeId, key, batch)
        yield* sql`insert into sim_volumes (volume_id, version) values (${volumeId}, ${key})
          on conflict (volume_id) do update set version = excluded.version`
      }).pipe(sql.withTransaction, Effect.orDie),

    /**
     * Deletes every version of a volume, unless a machine that is not gone has it mounted. Returns true when it did.
     */
    remove: (volumeId: string, now: number) =>
      sql<{ readonly removed: boolean }>`
        with mounted as materialized (select from sim_machines where volume_id = ${volumeId} and not released
            and not (saved and stopped_at <= ${new Date(now)}::timestamptz)
          ), files as (delete from sim_files where volume_id = ${volumeId} and not exists (select from mounted)
          ), volume as (delete from sim_volumes where volume_id = ${volumeId} and not exists (select from mounted))
        select not exists (select from mounted) as removed`.pipe(
        Effect.map((rows) => rows[0]!.removed),
        Effect.orDie
      )
  }
})

export class VolumeFilesStore extends Context.Service<VolumeFilesStore, Effect.Success<typeof make>>()(
  "@sluice/simulator/world/VolumeFilesStore"
) {
  static readonly layer = Layer.effect(VolumeFilesStore, make)
}

/** Returns the bytes of the files among a volume's entries. */
export const sizeOf = (entries: ReadonlyArray<VolumeEntry>): number =>
  entries.reduce((size, entry) => size + (entry._tag === "File" ? entry.bytes.length : 0), 0)

const entryOf = ({ path, kind, mode, bytes, target }: Row): VolumeEntry => {
  switch (kind) {
    case "File":
      return { _tag: "File", path, mode, bytes }
    case "Directory":
      return { _tag: "Directory", path, mode }
    case "Link":
      return { _tag: "Link", path, target }
  }
}

const batchesOf = (entries: ReadonlyArray<VolumeEntry>): ReadonlyArray<ReadonlyArray<VolumeEntry>> => {
  const batches: Array<Array<VolumeEntry>> = []
  let bytes = Infinity
  for (const entry of entries) {
    const size = entry._tag === "File" ? entry.bytes.length : 0
    const last = batches[batches.length - 1]
    if (last === undefined || bytes + size > BATCH_BYTES || last.length === BATCH_ROWS) {
      batches.push([entry])
      bytes = size
    } else {
      last.push(entry)
      bytes += size
    }
  }
  return batches
}
