/**
 * How the world is just now, as gauges: who counts rate limits, how the servers behind models are, what is alive in the
 * database. A database that is slow or away leaves its gauges out, and is not asked again at once.
 */
import { ModelProvider } from "@sluice/domain/models/ModelProvider"
import { RateLimits } from "@sluice/domain/limits/RateLimits"
import { jobStatuses, isTerminal } from "@sluice/domain/jobs/Job"
import { machineStatuses } from "@sluice/domain/machines/Machine"
import { Duration, Effect, Option } from "effect"
import { inWallTime } from "../clock/WallTime.ts"
import { singleFlight } from "../database/SingleFlight.ts"
import { LiveCounts } from "./LiveCountsStore.ts"
import { ServerMetrics } from "./ServerMetrics.ts"

const COUNTED_WITHIN = Duration.seconds(1)
const REMEMBERED = Duration.seconds(5)

/** Those that are there even at zero. */
const LIVE = {
  jobs: jobStatuses.filter((status) => !isTerminal(status)),
  machines: machineStatuses.filter((status) => status !== "stopped" && status !== "failed"),
  videos: ["queued", "in_progress"]
} as const

const SHARINGS = ["own", "shared", "lost"] as const
const STATES = ["closed", "resting", "open", "half_open"] as const

/** Gives what brings the gauges up to date. */
export const makeWorldMetrics = Effect.gen(function* () {
  const metrics = yield* ServerMetrics
  const limits = yield* RateLimits
  const health = (yield* ModelProvider).health ?? Effect.succeed([])
  const live = yield* singleFlight((yield* LiveCounts).counts, COUNTED_WITHIN)
  const counts = yield* live.pipe(
    // A defect is one of the database too: no answer is no answer.
    Effect.matchCause({ onFailure: () => Option.none(), onSuccess: Option.some }),
    Effect.cachedWithTTL(REMEMBERED)
  )

  const refresh = Effect.gen(function* () {
    const sharing = yield* limits.sharing
    for (const state of SHARINGS) metrics.sharing.of(state).value = state === sharing ? 1 : 0
    for (const { model, state, upstream } of yield* health) {
      for (const one of STATES) metrics.upstreams.of(model, String(upstream), one).value = one === state ? 1 : 0
    }
    const counted = yield* counts
    for (const kind of ["jobs", "machines", "videos"] as const) {
      metrics[kind].clear()
      if (Option.isNone(counted)) continue
      for (const status of LIVE[kind]) metrics[kind].of(status)
      for (const row of counted.value) if (row.kind === kind) metrics[kind].of(row.status).value = row.count
    }
  }).pipe(inWallTime)
  return { refresh }
})
