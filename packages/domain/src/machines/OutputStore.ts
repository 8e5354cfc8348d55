/**
 * The stored output of machines: chunks by byte offset, and the positions of live readers.
 *
 * An append succeeds only at the end of the stored bytes (compare and set on `machines.output_bytes`), so any replica may
 * append at any time and nothing is stored twice or with a hole.
 */
import { Clock, Context, Effect, Exit, Layer, Schema } from "effect"
import { RelaxedSql } from "../database/Clients.ts"
import * as GroupCommit from "../database/GroupCommit.ts"
import { Replica } from "../database/Replica.ts"
import { rowsOf } from "../database/RowDecoder.ts"

/** Bytes of one chunk at most. */
export const MAX_CHUNK_BYTES = 262_144
/** Polls without progress after which a reader no longer keeps bytes from being pruned. */
const READER_STALE_LOOKS = 15
/** Chunks of one read at most. */
const READ_CHUNKS = 16

/** The fields of a machine that a drain needs. */
const Source = Schema.Struct({ id: Schema.String, sealed: Schema.NullOr(Schema.Uint8Array) })
export type Source = typeof Source.Type

const sourceRows = rowsOf("OutputStore", Source)
const appendedRows = rowsOf("OutputStore", Schema.Struct({ machine_id: Schema.String }))
const sizeRows = rowsOf("OutputStore", Schema.Struct({ output_bytes: Schema.BigInt }))
const chunkRows = rowsOf("OutputStore", Schema.Struct({ start: Schema.BigInt, bytes: Schema.Uint8Array }))
const positionRows = rowsOf("OutputStore", Schema.Struct({ position: Schema.NullOr(Schema.BigInt) }))

export interface StoredChunk {
  readonly start: number
  readonly bytes: Uint8Array
}

/** Chunks of one statement at most. */
const APPEND_CHUNKS = 16

/**
 * $2: the bytes of all chunks, one after another. It waits for no row while it holds others: who commits a machine just now
 * is passed over, and its bytes come with the next append.
 */
const APPEND = `with chunks as materialized (
  select *
  from json_to_recordset($1::json) as chunk(id uuid, start int8, size int4, position int4)
),
locked_machines as materialized (
  select id
  from machines
  where id = any(array(select id from chunks))
  order by id
  for no key update skip locked
),
grown_machines as (
  update machines
  set output_bytes = chunks.start + chunks.size
  from chunks
  where machines.id = chunks.id
    and machines.id = any(array(select id from locked_machines))
    and machines.output_bytes = chunks.start
  returning machines.id
)
insert into output_chunks (machine_id, start, bytes)
select chunks.id, chunks.start, substring($2::bytea from chunks.position + 1 for chunks.size)
from chunks
join grown_machines on grown_machines.id = chunks.id
returning machine_id`

interface Append {
  readonly machineId: string
  readonly start: number
  readonly bytes: Uint8Array
}

const PRUNE = `delete from output_chunks where machine_id = $1 and start >= $2::int8 and start + length(bytes) <= $3::int8`

export class OutputStore extends Context.Service<
  OutputStore,
  {
    /** The machine and its sealed values, which are masked in the output; undefined for an unknown machine. */
    readonly source: (machineId: string) => Effect.Effect<Source | undefined>
    /** Returns false, and writes nothing, if another append came first or holds the row. */
    readonly append: (machineId: string, at: number, bytes: Uint8Array) => Effect.Effect<boolean>
    /** Bytes stored so far, dropped ones included. */
    readonly total: (machineId: string) => Effect.Effect<number>
    /** Chunks that hold bytes from `position` on, in order; at most a few megabytes. */
    readonly read: (machineId: string, position: number) => Effect.Effect<ReadonlyArray<StoredChunk>>
    readonly prune: (machineId: string, from: number, to: number) => Effect.Effect<void>
    /** The position of the live reader furthest behind; undefined without a reader. */
    readonly slowest: (machineId: string) => Effect.Effect<number | undefined>
    readonly reading: (machineId: string, readerId: string, position: number) => Effect.Effect<void>
    readonly left: (machineId: string, readerId: string) => Effect.Effect<void>
    /** Deletes stale readers, whose process died before they could leave. */
    readonly dropStale: Effect.Effect<void>
  }
>()("@sluice/domain/machines/OutputStore") {
  static readonly layer = Layer.effect(
    OutputStore,
    Effect.gen(function* () {
      const sql = yield* RelaxedSql
      const replica = yield* Replica
      const clock = yield* Clock.Clock
      const now = () => clock.currentTimeMillisUnsafe()

      const source = (machineId: string) =>
        sql.unsafe(`select id, sealed from machines where id = $1`, [machineId]).pipe(
          Effect.map((rows) => sourceRows(rows)[0]),
          Effect.orDie
        )

      const flush = Effect.fnUntraced(function* (appends: ReadonlyArray<Append>) {
        let size = 0
        const input = appends.map(({ bytes, machineId, start }) => {
          const position = size
          size += bytes.length
          return { id: machineId, start, size: bytes.length, position }
        })
        const all = new Uint8Array(size)
        for (const [i, { bytes }] of appends.entries()) all.set(bytes, input[i]!.position)
        const rows = yield* sql.unsafe(APPEND, [JSON.stringify(input), all])
        const written = new Set(appendedRows(rows).map((row) => row.machine_id))
        return appends.map(({ machineId }) => Exit.succeed(written.has(machineId)))
      }, Effect.orDie)
      const appends = yield* GroupCommit.make(
        {
          name: "outputs",
          maxRows: APPEND_CHUNKS,
          key: ({ machineId }: Append) => machineId,
          alone: ({ machineId }) => machineId
        },
        flush
      )

      const total = Effect.fnUntraced(function* (machineId: string) {
        const rows = yield* sql.unsafe(`select output_bytes from machines where id = $1`, [machineId])
        return Number(sizeRows(rows)[0]?.output_bytes ?? 0n)
      }, Effect.orDie)

      const read = Effect.fnUntraced(function* (machineId: string, position: number) {
        const rows = yield* sql.unsafe(
          `select start, bytes from output_chunks where machine_id = $1 and start > $2::int8 - ${MAX_CHUNK_BYTES}
             and start + length(bytes) > $2::int8 order by start limit ${READ_CHUNKS}`,
          [machineId, position]
        )
        return chunkRows(rows).map((row) => ({ start: Number(row.start), bytes: row.bytes }))
      }, Effect.orDie)

      const prune = (machineId: string, from: number, to: number) =>
        Effect.asVoid(Effect.orDie(sql.unsafe(PRUNE, [machineId, from, to])))

      const staleBefore = () => new Date(now() - READER_STALE_LOOKS * replica.lookMs)

      const slowest = Effect.fnUntraced(function* (machineId: string) {
        const rows = yield* sql.unsafe(
          `select min(position) as position from output_followers where machine_id = $1 and seen_at > $2`,
          [machineId, staleBefore()]
        )
        const position = positionRows(rows)[0]?.position
        return position == null ? undefined : Number(position)
      }, Effect.orDie)

      const reading = (machineId: string, readerId: string, position: number) =>
        Effect.asVoid(
          Effect.orDie(
            sql.unsafe(
              `insert into output_followers (machine_id, follower_id, position, seen_at) values ($1, $2, $3::int8, $4)
               on conflict (machine_id, follower_id) do update set position = excluded.position, seen_at = excluded.seen_at`,
              [machineId, readerId, position, new Date(now())]
            )
          )
        )

      const left = (machineId: string, readerId: string) =>
        Effect.asVoid(
          Effect.orDie(
            sql.unsafe(`delete from output_followers where machine_id = $1 and follower_id = $2`, [machineId, readerId])
          )
        )

      const dropStale = Effect.suspend(() =>
        Effect.asVoid(Effect.orDie(sql.unsafe(`delete from output_followers where seen_at <= $1`, [staleBefore()])))
      )

      return OutputStore.of({
        source,
        append: (machineId, start, bytes) => appends.submit({ machineId, start, bytes }),
        total,
        read,
        prune,
        slowest,
        reading,
        left,
        dropStale
      })
    })
  )
}
