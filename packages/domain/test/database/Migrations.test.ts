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

/** The beginnings of their SHA-256. A new migration adds a line; to change an old one, write a new one. */
const SHIPPED: Readonly<Record<string, string>> = {
  "0001_init.ts": "48985bdb563efbc5",
  "0002_inference.ts": "1c1b7fa32fd2b905",
  "0003_videos.ts": "ef25d8d1a199c948",
  "0004_image_links.ts": "bccc6b8496da2937",
  "0005_video_orders.ts": "9fa46856e5078918",
  "0006_room_in_place.ts": "b2882b1b2f58aa5b",
  "0007_budget_reserved.ts": "bb7378884e72de71",
  "0008_month_forward.ts": "3ddb1955cae88a9b",
  "0009_volume_once.ts": "9c41f4c5fcd34321",
  "0010_volume_deletions.ts": "d7c38f270ccf89e0",
  "0011_outbox_events.ts": "462fdf8f6f6d37c8"
}

plain("are those that shipped, and new ones", () => {
  const found = readdirSync(directory).map((name) => {
    const digest = createHash("sha256")
      .update(readFileSync(join(directory, name)))
      .digest("hex")
    return [name, digest.slice(0, 16)]
  })
  expect(Object.fromEntries(found)).toEqual(SHIPPED)
})

onEveryDatabase("Migrations", (it) => {
  it.effect("bring a database whose films had no names of orders to what a new one is", () =>
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
      // Those that have it already lose nothing.
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

plain("are all in the record", async () => {
  const ids = (await Effect.runPromise(loader)).map(([id]) => id)
  expect(ids).toEqual(Object.keys(SHIPPED).map((_, at) => at + 1))
})
