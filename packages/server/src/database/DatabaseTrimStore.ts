/**
 * Shrinks a database before it is copied: drops the template databases, because no further databases are created, and
 * empties the write-ahead log, which each start of a copy would replay.
 */
import type { PGlite } from "@electric-sql/pglite"

/** Runs the statements one at a time: a database can't be dropped in a transaction. */
export const trimDatabase = async (db: PGlite): Promise<void> => {
  for (const statement of STATEMENTS) await db.exec(statement)
}

const STATEMENTS = [
  "update pg_database set datistemplate = false where datname <> 'postgres'",
  "drop database template1",
  "drop database template0",
  "checkpoint"
]
