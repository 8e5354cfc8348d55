/**
 * Counts the live rows of each kind by status, in one statement over the partial indexes of due rows, which contain no
 * ended rows. It reads every live row, so callers cache the result.
 */
import { ENDED, GONE } from "@sluice/domain/database/ReconciledStore"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"

export interface LiveCount {
  readonly kind: "jobs" | "machines" | "videos"
  readonly status: string
  readonly count: number
}

/** The conditions repeat those of the indexes jobs_due, machines_due and videos_due, so that the planner uses them. */
export const LIVE = `
select 'jobs' as kind, status, count(*)::int4 as count from jobs where status not in ${ENDED} group by status
union all select 'machines', status, count(*)::int4 from machines where status not in ${GONE} group by status
union all select 'videos', status, count(*)::int4 from videos
  where (ended_at is null or deleted_at is not null) and ended_at is null group by status`

export class LiveCounts extends Context.Service<
  LiveCounts,
  { readonly counts: Effect.Effect<ReadonlyArray<LiveCount>, SqlError> }
>()("@sluice/server/metrics/LiveCountsStore") {
  static readonly layer = Layer.effect(
    LiveCounts,
    Effect.map(SqlClient.SqlClient, (sql) =>
      LiveCounts.of({ counts: Effect.suspend(() => sql.unsafe<LiveCount>(LIVE)) })
    )
  )
}
