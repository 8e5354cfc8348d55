/**
 * What can be said of a run that has come to its end: all that was accepted has ended, nothing is left, every bill is the
 * domain's own, stored output is what was written, and no secret stands anywhere.
 */
import type { PgClient } from "@effect/sql-pg"
import { costOf } from "@sluice/domain/billing/Money"
import { REVENUE_ACCOUNT } from "@sluice/domain/billing/Ledger"
import { gapOf } from "@sluice/domain/machines/OutputLimit"
import { Effect } from "effect"
import type { Twins } from "../users/Tally.ts"
import { ENDED, GONE } from "./InvariantStore.ts"

export interface EndContext {
  /** Unix ms of the world's clock. */
  readonly now: number
  /** Ids of all jobs that were answered with 201. */
  readonly accepted: ReadonlyArray<string>
  /** What the command of a job wrote, secret values masked; undefined where the world cannot know. */
  readonly expected: (jobId: string) => string | Uint8Array | undefined
  /** Values that must never stand in the clear. */
  readonly secrets: ReadonlyArray<string>
  /** Ids of videos whose order was answered, but for those that their callers deleted. */
  readonly videos: ReadonlyArray<string>
  /** What answers of models said that they cost, nano-USD, by the request's id. */
  readonly answered: ReadonlyArray<{ readonly id: string; readonly cost: bigint }>
  /** Requests that failed before anything of them was delivered. */
  readonly failed: ReadonlyArray<string>
  /** Questions that were asked streamed and buffered, of a model that did the same both times. */
  readonly twins: ReadonlyArray<Twins>
  /** What was wrong with what followers of logs were told. */
  readonly misled: ReadonlyArray<string>
  /** What users never got an answer to, and a run without an end. */
  readonly unanswered: ReadonlyArray<string>
  /** Where else they must not stand: the history, the servers' logs, answers. */
  readonly texts: ReadonlyArray<{ readonly name: string; readonly text: string }>
}

interface Ran {
  readonly name: string
  /** A machine that is lost may save what was written, or not. */
  readonly lost: boolean
}

type Found = Effect.Effect<ReadonlyArray<string>>

/** Tables of the world and of the checks, where the command and its output are what they are. */
const OTHERS = /^(sim_|simulation_|.*migrations$)/

/** Machines whose output is read at once. */
const MACHINES_AT_ONCE = 100
/** Characters by which values that may hold a secret are found. */
const BEGINNING = 6

export const ends = {
  acceptedEnds: (sql: PgClient.PgClient, { accepted }: EndContext): Found =>
    sql
      .unsafe<{ readonly found: string }>(
        `select 'job ' || a.id || ' was accepted and is ' || coalesce(j.status, 'unknown') as found
           from json_array_elements_text($1::json) a(id) left join jobs j on j.id = a.id::uuid
           where j.id is null or j.status not in ${ENDED}`,
        [JSON.stringify(accepted)]
      )
      .pipe(Effect.map(texts), Effect.orDie),

  followersMissNothing: (_sql: PgClient.PgClient, { misled }: EndContext): Found => Effect.succeed(misled),

  requestsAreAnswered: (_sql: PgClient.PgClient, { unanswered }: EndContext): Found => Effect.succeed(unanswered),

  onlyAccepted: (sql: PgClient.PgClient, { accepted }: EndContext): Found =>
    sql
      .unsafe<{ readonly found: string }>(
        `select 'nobody was told of job ' || id || ' of submission ' || name as found from jobs
           where not id = any(array(select value::uuid from json_array_elements_text($1::json)))`,
        [JSON.stringify(accepted)]
      )
      .pipe(Effect.map(texts), Effect.orDie),

  /** Each job with a volume adds its name to a file there; one on a lost machine may have, whether or not it was seen to begin. */
  volumesKeepWhatWasWritten: (sql: PgClient.PgClient): Found =>
    sql
      .unsafe<{ readonly id: string; readonly held: string | null; readonly ran: ReadonlyArray<Ran> }>(
        `select v.id, json_agg(json_build_object('name', j.name, 'lost', m.failure is not null)
               order by coalesce(m.command_started_at, m.running_at)) as ran,
             (select convert_from(f.bytes, 'UTF8') from sim_volumes w join sim_files f
                on f.volume_id = w.volume_id and f.version = w.version and f.path = 'ran.txt' where w.volume_id = v.id::text) as held
           from volumes v join machines m on m.volume_id = v.id join jobs j on j.id = m.job_id
           where m.command_started_at is not null or (m.failure is not null and m.running_at is not null)
           group by v.id`
      )
      .pipe(
        Effect.map((rows) =>
          rows.flatMap(({ held, id, ran }) => {
            const names = new Set(held?.trimEnd().split("\n"))
            const wanted = ran.filter(({ lost, name }) => !lost || names.has(name)).map(({ name }) => `${name}\n`)
            return (held ?? "") === wanted.join("") ? [] : [`volume ${id} holds ${held} and should hold ${wanted}`]
          })
        ),
        Effect.orDie
      ),

  nothingIsLeft: (sql: PgClient.PgClient, { now }: EndContext): Found =>
    sql
      .unsafe<{ readonly found: string }>(
        `select 'hold ' || id || ' is open' as found from holds where state = 'open'
         union all select 'machine ' || id || ' is ' || status from machines where status not in ${GONE}
         union all select 'video ' || id || ' is ' || status from videos where ended_at is null or deleted_at is not null
         union all select 'volume ' || id || ' is attached' from volumes where attached_to is not null
         union all select 'machine ' || key || ' runs in the world' from sim_machines where launched_at is not null and (stopped_at is null or stopped_at > $1)`,
        [new Date(now)]
      )
      .pipe(Effect.map(texts), Effect.orDie),

  billIsExact: (sql: PgClient.PgClient): Found =>
    sql
      .unsafe<{
        readonly id: string
        readonly price: bigint
        readonly running_at: Date
        readonly stopped_at: Date
        readonly billed: bigint
      }>(
        // Bills by index: joined with all entries, the end of a run would grow with its square.
        `select j.id, j.price, m.running_at, m.stopped_at, (select coalesce(sum(e.amount), 0)::int8 from entries e
             where e.txn_id = j.id and e.account_id = '${REVENUE_ACCOUNT}') as billed
           from jobs j join machines m on m.id = j.machine_id
           where m.running_at is not null and m.stopped_at is not null and j.status in ${ENDED}`
      )
      .pipe(
        Effect.map((rows) =>
          rows.flatMap(({ id, price, running_at, stopped_at, billed }) => {
            const cost = costOf(price, stopped_at.getTime() - running_at.getTime())
            return cost === billed ? [] : [`job ${id} was billed ${billed} and cost ${cost}`]
          })
        ),
        Effect.orDie
      ),

  logIsWhatWasWritten: (sql: PgClient.PgClient, { expected }: EndContext): Found =>
    Effect.gen(function* () {
      const machines = yield* sql.unsafe<{
        readonly id: string
        readonly job_id: string
        readonly output_bytes: bigint
      }>(`select id, job_id, output_bytes from machines where job_id is not null order by id`)
      const found: Array<string> = []
      for (let at = 0; at < machines.length; at += MACHINES_AT_ONCE) {
        const some = machines.slice(at, at + MACHINES_AT_ONCE)
        const chunks = yield* sql.unsafe<StoredPiece>(
          `select machine_id, start, bytes from output_chunks
             where machine_id = any(array(select value::uuid from json_array_elements_text($1::json))) order by machine_id, start`,
          [JSON.stringify(some.map((machine) => machine.id))]
        )
        const pieces = Map.groupBy(chunks, (chunk) => chunk.machine_id)
        for (const { id, job_id, output_bytes } of some) {
          const written = expected(job_id)
          const wrong = fault(
            pieces.get(id) ?? [],
            Number(output_bytes),
            typeof written === "string" ? new TextEncoder().encode(written) : written
          )
          if (wrong !== undefined) found.push(`the log of job ${job_id} ${wrong}`)
        }
      }
      return found
    }).pipe(Effect.orDie),

  nothingSecret: (sql: PgClient.PgClient, { secrets, texts: others }: EndContext): Found =>
    Effect.gen(function* () {
      // Named by its place in the list: a finding must not say the secret.
      const found = others.flatMap(({ name, text }) =>
        secrets.flatMap((secret, index) => (text.includes(secret) ? [`secret ${index} is in ${name}`] : []))
      )
      const beginnings = [...new Set(secrets.map((secret) => secret.slice(0, BEGINNING)))]
      const columns = yield* sql.unsafe<{ readonly table: string; readonly column: string; readonly bytes: boolean }>(
        `select c.table_name as table, c.column_name as column, c.data_type = 'bytea' as bytes from information_schema.columns c
           join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name and t.table_type = 'BASE TABLE'
           where c.table_schema = 'public' and c.data_type in ('text', 'character varying', 'json', 'jsonb', 'bytea', 'ARRAY') order by 1, 2`
      )
      for (const { table, column, bytes } of columns.filter((one) => !OTHERS.test(one.table))) {
        const name = `"${table}"."${column}"`
        // A value may be cut in two by the pieces in which output is stored.
        const values =
          table === "output_chunks"
            ? `(select string_agg(bytes, ''::bytea order by start) as v from output_chunks group by machine_id)`
            : `(select ${name} as v from "${table}")`
        const holds = bytes ? `position(convert_to(s.value, 'UTF8') in x.v) > 0` : `position(s.value in x.v::text) > 0`
        // Each value is held against the few beginnings that secrets have; who has none of them holds no secret.
        const rows = yield* sql.unsafe<{ readonly index: bigint }>(
          `with suspects as materialized (select x.v from ${values} x
             where exists (select from json_array_elements_text($2::json) s(value) where ${holds}))
           select s.index - 1 as index from json_array_elements_text($1::json) with ordinality s(value, index)
             where exists (select from suspects x where ${holds}) order by 1`,
          [JSON.stringify(secrets), JSON.stringify(beginnings)]
        )
        found.push(...rows.map(({ index }) => `secret ${index} is in ${table}.${column}`))
      }
      return found
    }).pipe(Effect.orDie)
}

interface StoredPiece {
  readonly machine_id: string
  readonly start: bigint
  readonly bytes: Uint8Array
}

/** What is wrong with stored output: holes, repeats, another end, other bytes; the gap of the 10 MB rule is none. */
const fault = (
  chunks: ReadonlyArray<StoredPiece>,
  total: number,
  written: Uint8Array | undefined
): string | undefined => {
  if (written !== undefined && written.length !== total)
    return `has ${total} bytes and the command wrote ${written.length}`
  const gap = gapOf(total)
  let end = 0
  for (const { start: at, bytes } of chunks) {
    const start = Number(at)
    const dropped = gap !== undefined && start > end && end >= gap.from && start <= gap.to
    if (start < end || (start > end && !dropped)) return `goes from byte ${end} to ${start}`
    end = start + bytes.length
    if (written !== undefined && !Buffer.from(written.subarray(start, end)).equals(bytes))
      return `differs between bytes ${start} and ${end}`
  }
  return end === total ? undefined : `ends at byte ${end} of ${total}`
}

const texts = (rows: ReadonlyArray<{ readonly found: string }>) => rows.map(({ found }) => found)
