/** Videos as callers see them: one, a page of them, and the mark that one was deleted. Images stay where they are. */
import * as PgClient from "@effect/sql-pg/PgClient"
import { Clock, Context, Effect, Layer } from "effect"
import { rowsOf } from "../database/RowDecoder.ts"
import { SeenVideo } from "./VideoRow.ts"

const videoRows = rowsOf("VideoListStore", SeenVideo)

export interface VideoPage {
  /** 1..MAX_VIDEO_PAGE. */
  readonly limit: number
  readonly after: string | undefined
  readonly order: "asc" | "desc"
}
export const MAX_VIDEO_PAGE = 100

const COLUMNS = "id, model, prompt, size, seconds, status, percent, failure, reference, cost, created_at, ended_at"
const ONE = `select ${COLUMNS} from videos where id = $1 and environment_id = $2 and deleted_at is null`
const ORDERED = `select ${COLUMNS} from videos where idempotency_key = $1 and environment_id = $2 and deleted_at is null`
const PAGE = {
  asc: `select ${COLUMNS} from videos where environment_id = $1 and deleted_at is null and ($2::uuid is null or id > $2) order by id limit $3`,
  desc: `select ${COLUMNS} from videos where environment_id = $1 and deleted_at is null and ($2::uuid is null or id < $2) order by id desc limit $3`
}
const DELETE = `update videos set deleted_at = $3, wake_at = $3, events = events + 1
  where id = $1 and environment_id = $2 and deleted_at is null and ended_at is not null returning id`

export class VideoListStore extends Context.Service<
  VideoListStore,
  {
    readonly find: (id: string, environmentId: string) => Effect.Effect<SeenVideo | undefined>
    /** The video that was ordered under this key. */
    readonly ordered: (idempotencyKey: string, environmentId: string) => Effect.Effect<SeenVideo | undefined>
    /** Up to one row more than the limit, which shows that there is a next page. */
    readonly page: (environmentId: string, page: VideoPage) => Effect.Effect<ReadonlyArray<SeenVideo>>
    /** Returns false if no ended video has this id. */
    readonly remove: (id: string, environmentId: string) => Effect.Effect<boolean>
  }
>()("@sluice/domain/videos/VideoListStore") {
  static readonly layer = Layer.effect(
    VideoListStore,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      return VideoListStore.of({
        find: (id, environmentId) =>
          Effect.map(Effect.orDie(sql.unsafe(ONE, [id, environmentId])), (rows) => videoRows(rows)[0]),
        ordered: (idempotencyKey, environmentId) =>
          Effect.map(Effect.orDie(sql.unsafe(ORDERED, [idempotencyKey, environmentId])), (rows) => videoRows(rows)[0]),
        page: (environmentId, { after, limit, order }) =>
          Effect.map(Effect.orDie(sql.unsafe(PAGE[order], [environmentId, after ?? null, limit + 1])), videoRows),
        remove: (id, environmentId) =>
          Effect.flatMap(Clock.currentTimeMillis, (now) =>
            Effect.map(Effect.orDie(sql.unsafe(DELETE, [id, environmentId, new Date(now)])), (rows) => rows.length > 0)
          )
      })
    })
  )
}
