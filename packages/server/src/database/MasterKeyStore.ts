/**
 * Which master keys have sealed rows of this database? Their ids are kept in a table of the server's own, so that a
 * process without one of them is found out at its start. Ids are derived from keys and show nothing of them.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/**
 * Records the newest of `ids` (hex, newest first) as sealing. Answers the id of a key that has sealed and is not among
 * them, or undefined when all are known. The lock decides between two processes that start at once on an empty database.
 */
export const unknownSealingKey = (sql: SqlClient.SqlClient, ids: ReadonlyArray<string>, now: Date) =>
  Effect.gen(function* () {
    yield* sql`lock table master_keys in exclusive mode`
    const used = yield* sql<{ readonly id: string }>`select id from master_keys order by since, id`
    const unknown = used.find((key) => !ids.includes(key.id))
    if (unknown !== undefined) return unknown.id
    yield* sql`insert into master_keys (id, since) values (${ids[0] ?? ""}, ${now}) on conflict (id) do nothing`
    return undefined
  }).pipe(sql.withTransaction)
