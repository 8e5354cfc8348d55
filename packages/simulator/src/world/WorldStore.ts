/**
 * Stores the world's capacity and machines; the only SQL about them. Statements take many machines at once and are
 * idempotent.
 */
import { RelaxedSql } from "@sluice/domain/database/Clients"
import { Context, Effect, Layer } from "effect"
import * as Base64 from "effect/encoding/Base64"
import type { SqlError } from "effect/sql"
import { SqlClient } from "effect/sql"
import { stopDelayOf } from "./LaunchRecord.ts"
import type { LaunchPlan, LaunchRecord, NewLaunch } from "./LaunchRecord.ts"
import { migrateWorld } from "./WorldMigrations.ts"

interface Row {
  readonly key: string
  readonly ordinal: bigint
  readonly plan: LaunchPlan | null
  readonly sealed: Uint8Array | null
  readonly volume_id: string | null
  readonly mounted: string | null
  readonly launched_at: Date | null
  readonly stop_at: Date | null
  readonly stopped_at: Date | null
  readonly saved: boolean
  readonly volume_bytes: bigint | null
  readonly overran: boolean
}

const recordOf = (row: Row): LaunchRecord => ({
  key: row.key,
  ordinal: Number(row.ordinal),
  plan: row.plan,
  sealed: row.sealed,
  volumeId: row.volume_id,
  mounted: row.mounted,
  launchedAt: row.launched_at?.getTime() ?? null,
  stopAt: row.stop_at?.getTime() ?? null,
  stoppedAt: row.stopped_at?.getTime() ?? null,
  saved: row.saved,
  volumeBytes: row.volume_bytes === null ? null : Number(row.volume_bytes),
  overran: row.overran
})

/** Retries a statement that lost a deadlock: replicas can meet on the same rows. */
const retryDeadlock = <A>(statement: Effect.Effect<A, SqlError.SqlError>): Effect.Effect<A> =>
  statement.pipe(Effect.retry({ times: 5, while: (error) => error.reason._tag === "DeadlockError" }), Effect.orDie)

/** The keys of released machines are kept this long, so that a late launch of one starts nothing. */
const TOMBSTONE_MS = 7 * 24 * 3_600_000
const MAX_FORGOTTEN = 1_000
const MAX_LISTED = 100_000

const make = Effect.gen(function* () {
  const sql = yield* RelaxedSql
  yield* Effect.orDie(Effect.provideService(migrateWorld, SqlClient.SqlClient, sql))
  const columns = sql.literal(
    "key, ordinal, plan, sealed, volume_id, mounted, launched_at, stop_at, stopped_at, saved, volume_bytes, overran"
  )
  const at = (ms: number) => new Date(ms)

  return {
    /** Sets the number of GPUs. The number of used GPUs stays. */
    setCapacity: (
      rows: ReadonlyArray<{ readonly gpu_type: string; readonly region: string; readonly total: number }>
    ) =>
      sql`insert into sim_capacity (gpu_type, region, total)
        select gpu_type, region, total from json_to_recordset(${JSON.stringify(rows)}::json) as r(gpu_type text, region text, total int4)
        order by gpu_type, region
        on conflict (gpu_type, region) do update set total = excluded.total`.pipe(Effect.asVoid, retryDeadlock),

    /** Returns the free GPUs by type, with those of machines that have stopped by now. */
    free: (now: number) =>
      sql<{ readonly gpu_type: string; readonly free: bigint }>`
        select c.gpu_type, sum(c.total - c.used) + coalesce((
          select sum(m.gpu_count) from sim_machines m
          where m.gpu_type = c.gpu_type and not m.freed and m.saved and m.stopped_at <= ${at(now)}), 0)::int8 as free
        from sim_capacity c group by c.gpu_type`.pipe(
        Effect.map((rows) => new Map(rows.map((row) => [row.gpu_type, Number(row.free)]))),
        retryDeadlock
      ),

    /** Returns in order: the ordinal of the new machine, -1 for a known key, null without room. */
    launch: (launches: ReadonlyArray<NewLaunch>, now: number) => {
      const rows = launches.map((one) => ({
        key: one.key,
        gpu_type: one.gpuType,
        region: one.region,
        gpu_count: one.gpuCount,
        // as text: a command can hold characters that no text of the database can, and in JSON they stay escaped
        plan: JSON.stringify(one.plan),
        sealed: one.sealed === null ? null : Base64.encode(one.sealed),
        volume_id: one.volumeId
      }))
      return sql<{ readonly ordinal: bigint | null }>`
        select ordinal from sim_launch(${JSON.stringify(rows)}::json, ${at(now)}::timestamptz) as ordinal`.pipe(
        Effect.map((answers) => answers.map(({ ordinal }) => (ordinal === null ? null : Number(ordinal)))),
        retryDeadlock
      )
    },

    find: (keys: ReadonlyArray<string>) =>
      sql<Row>`select ${columns} from sim_machines where key = any(${keys}::text[])`.pipe(
        Effect.map((rows) => new Map(rows.map((row) => [row.key, recordOf(row)]))),
        retryDeadlock
      ),

    listed: sql<Row>`select ${columns} from sim_machines where not released order by ordinal limit ${MAX_LISTED}`.pipe(
      Effect.map((rows) => rows.map(recordOf)),
      retryDeadlock
    ),

    /** Adds a tombstone for each key that was never launched, so that a late launch starts nothing. */
    addTombstones: (keys: ReadonlyArray<string>, now: number) =>
      sql`insert into sim_machines (key, stop_at, stopped_at, saved, freed)
        select key, ${at(now)}::timestamptz, ${at(now)}::timestamptz, true, true
        from json_array_elements_text(${JSON.stringify(keys)}::json) as k(key)
        on conflict (key) do nothing`.pipe(Effect.asVoid, retryDeadlock),

    /** Stops each machine once: a second stop changes nothing. Without a volume there is nothing to save. */
    stop: (records: ReadonlyArray<LaunchRecord>, now: number) => {
      const rows = records.flatMap((record) =>
        record.plan === null
          ? []
          : [{ key: record.key, stopped_at: at(now + stopDelayOf(record.ordinal, record.plan)) }]
      )
      return sql`update sim_machines m set stop_at = ${at(now)}::timestamptz, stopped_at = r.stopped_at, saved = m.volume_id is null
        from json_to_recordset(${JSON.stringify(rows)}::json) as r(key text, stopped_at timestamptz)
        where m.key = r.key and m.stop_at is null`.pipe(Effect.asVoid, retryDeadlock)
    },

    /**
     * Takes machines that are gone off the listing, and frees their capacity and their replaced volume versions.
     * Deletes old tombstones.
     */
    release: (keys: ReadonlyArray<string>, now: number) =>
      sql`with gone as materialized (
          select key, gpu_type, region, gpu_count, volume_id, mounted, freed from sim_machines
          where key = any(${keys}::text[]) and not released and saved and stopped_at <= ${at(now)} order by key for update
        ), marked as (
          update sim_machines set released = true, freed = true, plan = null, sealed = null where key = any(array(select key from gone))
        ), sums as (
          select gpu_type, region, sum(gpu_count) as n from gone where gpu_type is not null and not freed group by gpu_type, region
        ), given_back as (
          update sim_capacity c set used = c.used - sums.n from sums where c.gpu_type = sums.gpu_type and c.region = sums.region
        ), replaced as (
          delete from sim_files f using gone, sim_volumes v
          where f.volume_id = gone.volume_id and f.version = gone.mounted and v.volume_id = f.volume_id and v.version <> f.version
        )
        delete from sim_machines where key = any(array(
          select key from sim_machines where released and stopped_at < ${at(now - TOMBSTONE_MS)} limit ${MAX_FORGOTTEN}))`.pipe(
        Effect.asVoid,
        retryDeadlock
      ),

    /** Records that the host could not finish this machine's command, so that every later run ends in the same way. */
    markOverran: (key: string) =>
      sql`update sim_machines set overran = true where key = ${key}`.pipe(Effect.asVoid, retryDeadlock)
  }
})

export class WorldStore extends Context.Service<WorldStore, Effect.Success<typeof make>>()(
  "@sluice/simulator/world/WorldStore"
) {
  static readonly layer = Layer.effect(WorldStore, make)
}
