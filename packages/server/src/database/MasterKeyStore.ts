/**
 * Records the ids of the master keys that have sealed rows of this database, in a table of the server's own. A process
 * that lacks one of the keys fails at its start. Ids are hashes of keys and reveal nothing of them.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/**
 * Records the newest of `ids` (hexadecimal, newest first) as in use. Returns the id of a used key that is not among
 * `ids`, or undefined when all are present. The table lock decides between two processes that start at once on an empty
 * database.
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
