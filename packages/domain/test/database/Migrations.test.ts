/** A migration that has shipped never changes: databases that have run it would be left without the change. */
import { expect } from "@effect/vitest"
import { loader, migrate } from "@sluice/domain/database/Migrations"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { it as plain } from "vitest"
import { onEveryDatabase } from "@sluice/testing/engines/Databases"

const directory = join(import.meta.dirname, "../../src/database/migrations")

/** The beginnings of their SHA-256. A new migration adds a line; never edit an old migration, write a new one. */
const SHIPPED: Readonly<Record<string, string>> = {
  "0001_init.ts": "2c8ac40d08009883",
  "0002_inference.ts": "f8d9d7074bd27b47",
  "0003_videos.ts": "a696e065f0a5901d",
  "0004_image_links.ts": "337dcd797214603d",
  "0005_video_orders.ts": "f28471242f9486c1",
  "0006_room_in_place.ts": "3c761e8720ce14bd",
  "0007_budget_reserved.ts": "7f413aace56fd19c",
  "0008_month_forward.ts": "baa9b4dc1944be0c",
  "0009_volume_once.ts": "80a2d5f046883524",
  "0010_volume_deletions.ts": "45022d982d84b68a",
  "0011_outbox_events.ts": "3170f6e62be9b64d"
}

plain("migrations equal their shipped versions, or are new", () => {
  const found = readdirSync(directory).map((name) => {
    const digest = createHash("sha256")
      .update(readFileSync(join(directory, name)))
      .digest("hex")
    return [name, digest.slice(0, 16)]
  })
  expect(Object.fromEntries(found)).toEqual(SHIPPED)
})

onEveryDatabase("Migrations", (it) => {
  it.effect("bring a database whose films had no order ids to the newest schema", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const shape = sql`select column_name as name, data_type as type from information_schema.columns
        where table_name = 'videos' order by column_name`
      const indexes = sql`select indexdef from pg_indexes where tablename = 'videos' order by indexname`
      const [columns, keys] = [yield* shape, yield* indexes]
      yield* sql`drop index videos_once`
      yield* sql`alter table videos drop column idempotency_key`
      yield* sql`delete from effect_sql_migrations where migration_id > 4`
      yield* migrate
      expect(yield* shape).toEqual(columns)
      expect(yield* indexes).toEqual(keys)
      // Databases that already have the column lose nothing.
      yield* sql`delete from effect_sql_migrations where migration_id > 4`
      yield* migrate
      expect(yield* shape).toEqual(columns)
    })
  )
})

onEveryDatabase("A database of a newer version", (it) => {
  it.effect("is refused", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const known = Object.keys(SHIPPED).length
      yield* sql`insert into effect_sql_migrations (migration_id, name) values (${known + 1}, 'of_a_newer_version')`
      const refused = yield* Effect.flip(migrate)
      expect(refused).toMatchObject({ _tag: "DatabaseNewer", database: known + 1, known })
      yield* sql`delete from effect_sql_migrations where migration_id > ${known}`
      yield* migrate
    })
  )
})

plain("migrations are all in the record", async () => {
  const ids = (await Effect.runPromise(loader)).map(([id]) => id)
  expect(ids).toEqual(Object.keys(SHIPPED).map((_, at) => at + 1))
})
