/** Describes a new embedded database: the newest schema, without rows. */
import type { PGlite } from "@electric-sql/pglite"
import type { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Image } from "./EmbeddedFiles.ts"

/** Tables beside the service's own: `migrate` creates them, and `source` is the file that defines them. */
export interface MoreTables {
  readonly migrate: Effect.Effect<void, unknown, SqlClient.SqlClient>
  readonly source: string
}

/** `migrate` migrates a database to the newest schema, the tables of `more` included. */
export const schemaImage = (more: ReadonlyArray<MoreTables>, migrate: (db: PGlite) => Promise<void>): Image => ({
  name: digestOf([...sources(), ...more.map(({ source }) => source)]),
  prepare: migrate
})

/** Returns every file that defines the schema or the layout of its files. */
const sources = (): ReadonlyArray<string> => {
  const domain = dirname(fileURLToPath(import.meta.resolve("@sluice/domain/database/Migrations")))
  const migrations = join(domain, "migrations")
  return [
    ...readdirSync(migrations)
      .sort()
      .map((name) => join(migrations, name)),
    join(import.meta.dirname, "ServerMigrations.ts"),
    join(import.meta.dirname, "EmbeddedFiles.ts"),
    join(import.meta.dirname, "DatabaseTrimStore.ts")
  ]
}

const digestOf = (files: ReadonlyArray<string>): string => {
  const hash = createHash("sha256")
  for (const file of files) hash.update(readFileSync(file))
  return hash.digest("hex").slice(0, 12)
}
