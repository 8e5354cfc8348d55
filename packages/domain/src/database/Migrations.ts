/**
 * The schema's history as a static record: no file system, works from any folder. All pending ones run in one transaction.
 * Ids only grow; a migration that has shipped never changes.
 */
import { Migrator } from "effect/sql"
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
  "0010_volume_deletions": m0010
})

/** Brings the database to the newest schema. */
export const migrate = Migrator.make({})({ loader })
