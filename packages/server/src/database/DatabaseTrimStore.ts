/**
 * Takes from a database that is to be copied what no copy needs: the templates of further databases, which nobody makes, and
 * what is in the log, which would be done again at each start.
 */
import type { PGlite } from "@electric-sql/pglite"

/** One at a time: databases are not dropped in a transaction. */
export const trimDatabase = async (db: PGlite): Promise<void> => {
  for (const statement of STATEMENTS) await db.exec(statement)
}

const STATEMENTS = [
  "update pg_database set datistemplate = false where datname <> 'postgres'",
  "drop database template1",
  "drop database template0",
  "checkpoint"
]
