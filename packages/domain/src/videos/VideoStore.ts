/**
 * The rows of videos: admission with the money held for them, claims, and commits that settle or release that money in the
 * statement that says how the video ended. A claim that was lost commits nothing.
 * Locks as ARCHITECTURE.md says (Lock order).
 */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { monthOf } from "../billing/Month.ts"
import { BatchSql } from "../database/Clients.ts"
import { type Claims, claiming, makeClaims } from "../database/ReconciledStore.ts"
import { Replica } from "../database/Replica.ts"
import { rowsOf } from "../database/RowDecoder.ts"
import { retryUnconfirmed } from "../database/StatementRetry.ts"
import { isEnded, type VideoState } from "./VideoLifecycle.ts"
import { type NewVideo, VideoRow } from "./VideoRow.ts"
import { ADMIT_VIDEO, COMMIT_VIDEO } from "./Videos.sql.ts"

const AdmissionRow = Schema.Struct({
  refused: Schema.NullOr(Schema.Literals(["budget_reached", "insufficient_credits"])),
  available: Schema.BigInt
})
type AdmissionRow = typeof AdmissionRow.Type

const admissionRows = rowsOf("VideoStore", AdmissionRow)
const claimedRows = rowsOf("VideoStore", VideoRow)

const CLAIM = claiming("videos", "(ended_at is null or deleted_at is not null)")

const FORGET = `delete from videos
where id = $1 and lease_by = $2 and fence = $3 and deleted_at is not null
returning id`
const LATER = `update videos
set lease_by = null, lease_until = null, wake_at = $4
where id = $1 and lease_by = $2 and fence = $3`

const GONE: AdmissionRow = { refused: "insufficient_credits", available: 0n }

export class VideoStore extends Context.Service<
  VideoStore,
  Claims<VideoRow> & {
    /** Holds the price and writes the row, or refuses. */
    readonly admit: (video: NewVideo) => Effect.Effect<AdmissionRow>
    /** Returns false if the claim was lost. */
    readonly commit: (row: VideoRow, state: VideoState, wakeAt: number) => Effect.Effect<boolean>
    /** Deletes the row of a deleted video. */
    readonly forget: (row: VideoRow) => Effect.Effect<void>
    readonly later: (row: VideoRow, wakeAt: number) => Effect.Effect<void>
  }
>()("@sluice/domain/videos/VideoStore") {
  static readonly layer = Layer.effect(
    VideoStore,
    Effect.gen(function* () {
      const sql = yield* BatchSql
      const replica = yield* Replica
      const clock = yield* Clock.Clock
      const now = () => clock.currentTimeMillisUnsafe()

      const admit = Effect.fnUntraced(
        function* (video: NewVideo) {
          const at = now()
          const rows = yield* sql.unsafe(ADMIT_VIDEO, [
            video.id,
            video.workspaceId,
            video.environmentId,
            video.price.toString(),
            monthOf(at),
            video.keyId,
            video.model,
            video.prompt,
            video.size,
            video.seconds,
            video.image?.bytes ?? null,
            video.image?.contentType ?? null,
            new Date(at),
            video.idempotencyKey ?? null
          ])
          // No row: the environment was deleted between the key and here.
          return admissionRows(rows)[0] ?? GONE
        },
        retryUnconfirmed,
        Effect.orDie
      )

      const commit = (row: VideoRow, state: VideoState, wakeAt: number) =>
        Effect.suspend(() => {
          const at = now()
          const charge = state.status === "completed" ? row.price : 0n
          return sql.unsafe(COMMIT_VIDEO, [
            row.id,
            replica.id,
            row.fence.toString(),
            row.events.toString(),
            new Date(at),
            monthOf(at),
            new Date(wakeAt),
            state.status,
            state.percent,
            state.failure,
            state.reference,
            isEnded(state.status),
            charge.toString(),
            row.status
          ])
        }).pipe(
          Effect.map((written) => written.length > 0),
          Effect.orDie
        )

      return VideoStore.of({
        admit,
        ...(yield* makeClaims({ table: "videos", claim: CLAIM, rows: claimedRows, of: (row) => row })),
        commit,
        forget: (row) => Effect.asVoid(Effect.orDie(sql.unsafe(FORGET, [row.id, replica.id, row.fence.toString()]))),
        later: (row, wakeAt) =>
          Effect.asVoid(Effect.orDie(sql.unsafe(LATER, [row.id, replica.id, row.fence.toString(), new Date(wakeAt)])))
      })
    })
  )
}
