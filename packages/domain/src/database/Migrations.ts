/**
 * The migrations of the schema as a static record: they need no file system and work from any folder. All pending
 * migrations run in one transaction. Ids only grow, and a shipped migration never changes.
 */
import { Effect, Schema } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import { rowsOf } from "./RowDecoder.ts"
import m0001 from "./migrations/0001_init.ts"
import m0002 from "./migrations/0002_inference.ts"
import m0003 from "./migrations/0003_videos.ts"
import m0004 from "./migrations/0004_image_links.ts"
import m0005 from "./migrations/0005_video_orders.ts"
import m0006 from "./migrations/0006_room_in_place.ts"
import m0007 from "./migrations/0007_budget_reserved.ts"
import m0008 from "./migrations/0008_month_forward.ts"
import m0009 from "./migrations/0009_volume_once.ts"
import m0010 from "./migrations/0010_volume_deletions.ts"
import m0011 from "./migrations/0011_outbox_events.ts"

export const loader = Migrator.fromRecord({
  "0001_init": m0001,
  "0002_inference": m0002,
  "0003_videos": m0003,
  "0004_image_links": m0004,
  "0005_video_orders": m0005,
  "0006_room_in_place": m0006,
  "0007_budget_reserved": m0007,
  "0008_month_forward": m0008,
  "0009_volume_once": m0009,
  "0010_volume_deletions": m0010,
  "0011_outbox_events": m0011
})

/**
 * The database has migrations that this version does not know. This version would write rows that the newer version
 * does not expect.
 */
export class DatabaseNewer extends Schema.TaggedError<DatabaseNewer>()("DatabaseNewer", {
  database: Schema.Int,
  known: Schema.Int
}) {
  override get message() {
    return `the database has schema ${this.database}, and this version knows schemas up to ${this.known}: start the newer version, or restore a backup from before the upgrade`
  }
}

const newestRows = rowsOf("Migrations", Schema.Struct({ newest: Schema.Number }))

/**
 * Migrates the database to the newest schema. Fails with `DatabaseNewer` if the database is newer than this version.
 */
export const migrate = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const applied = yield* Migrator.make({})({ loader })
  const known = Math.max(...(yield* loader).map(([id]) => id))
  const [row] = newestRows(yield* sql`select max(migration_id)::int as newest from effect_sql_migrations`)
  if (row !== undefined && row.newest > known) return yield* new DatabaseNewer({ database: row.newest, known })
  return applied
})
