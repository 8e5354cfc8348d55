/**
 * Gauges of the world at the time of a scrape: the counting of rate limits, the servers behind models, and the live
 * rows of the database. While the database is slow or unavailable its gauges are left out, and the failure is cached
 * like a result.
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

const COUNT_TIMEOUT = Duration.seconds(1)
const CACHE_TTL = Duration.seconds(5)

/** Statuses that are reported also when they are zero. */
const LIVE = {
  jobs: jobStatuses.filter((status) => !isTerminal(status)),
  machines: machineStatuses.filter((status) => status !== "stopped" && status !== "failed"),
  videos: ["queued", "in_progress"]
} as const

const SHARINGS = ["own", "shared", "lost"] as const
const STATES = ["closed", "resting", "open", "half_open"] as const

/** Returns the effect that updates the gauges. */
export const makeWorldMetrics = Effect.gen(function* () {
  const metrics = yield* ServerMetrics
  const limits = yield* RateLimits
  const health = (yield* ModelProvider).health ?? Effect.succeed([])
  const live = yield* singleFlight((yield* LiveCounts).counts, COUNT_TIMEOUT)
  const counts = yield* live.pipe(
    // Defects count as failures of the database too.
    Effect.matchCause({ onFailure: () => Option.none(), onSuccess: Option.some }),
    Effect.cachedWithTTL(CACHE_TTL)
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
