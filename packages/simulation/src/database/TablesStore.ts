/** The tables of a run's database: emptied between two runs, and tidied while one goes on. */
import type { PGlite } from "@electric-sql/pglite"

/** Faster than making another database. */
export const emptyTables = async (db: PGlite): Promise<void> => {
  await db.exec(`truncate ${(await tablesOf(db)).join(", ")} restart identity cascade`)
}

/** Frees dead rows and cuts the log back; no statistics, which would come of real time. Not within a transaction. */
export const tidy = async (db: PGlite): Promise<void> => {
  for (const table of await tablesOf(db)) await db.query(`vacuum ${table}`)
  await db.query("checkpoint")
}

const tablesOf = async (db: PGlite): Promise<ReadonlyArray<string>> => {
  const { rows } = await db.query<{ readonly name: string }>(
    `select quote_ident(tablename) as name from pg_tables
       where schemaname = 'public' and tablename not like '%migrations' order by tablename`
  )
  return rows.map(({ name }) => name)
}
