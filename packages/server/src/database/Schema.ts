/** What a new embedded database begins as: the newest schema, without a row. */
import type { PGlite } from "@electric-sql/pglite"
import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Image } from "./EmbeddedFiles.ts"

/** `migrate` brings a database to the newest schema. */
export const schemaImage = (migrate: (db: PGlite) => Promise<void>): Image => ({
  name: digestOf(sources()),
  prepare: migrate
})

/** Every file that says what the schema is. */
const sources = (): ReadonlyArray<string> => {
  const domain = dirname(fileURLToPath(import.meta.resolve("@sluice/domain/database/Migrations")))
  const migrations = join(domain, "migrations")
  return [
    ...readdirSync(migrations)
      .sort()
      .map((name) => join(migrations, name)),
    join(import.meta.dirname, "ServerMigrations.ts")
  ]
}

const digestOf = (files: ReadonlyArray<string>): string => {
  const hash = createHash("sha256")
  for (const file of files) hash.update(readFileSync(file))
  return hash.digest("hex").slice(0, 12)
}
