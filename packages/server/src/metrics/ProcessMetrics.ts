/**
 * Gauges of the process as the operating system and Node see it, read at each scrape. Only the event loop's delay must
 * be watched continuously: Node's own timer samples it 50 times a second and does not keep the process alive.
 */
import { VERSION } from "@sluice/api/Version"
import { Clock, Effect } from "effect"
import { readdir } from "node:fs/promises"
import { monitorEventLoopDelay, performance } from "node:perf_hooks"
import { inWallTime } from "../clock/WallTime.ts"
import { ServerMetrics } from "./ServerMetrics.ts"

const RESOLUTION_MS = 20
/** Scrapes within this time see the same delay of the event loop. */
const WINDOW_MS = 10_000
const PERCENTILES = ["50", "90", "99", "100"] as const

/** Watches the event loop until the scope closes. Returns the effect that updates the gauges. */
export const makeProcessMetrics = Effect.gen(function* () {
  const metrics = yield* ServerMetrics
  const nowMs = yield* inWallTime(Clock.currentTimeMillis)
  metrics.build.of(VERSION, process.versions.node).value = 1
  metrics.startTime.of().value = nowMs / 1_000 - process.uptime()

  const loop = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const watch = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
      watch.enable()
      return watch
    }),
    (watch) => Effect.sync(() => watch.disable())
  )
  let since = performance.now()
  let isFirstWindow = true

  const updateLoopDelay = () => {
    const isWindowOver = performance.now() - since >= WINDOW_MS
    if (loop.count === 0 || !(isFirstWindow || isWindowOver)) return
    for (const percentile of PERCENTILES) {
      const lateMs = loop.percentile(Number(percentile)) / 1e6 - RESOLUTION_MS
      metrics.loopDelay.of(percentile).value = Math.max(0, lateMs) / 1_000
    }
    if (!isWindowOver) return
    loop.reset()
    isFirstWindow = false
    since = performance.now()
  }

  const files = Effect.map(
    Effect.promise(() => readdir("/proc/self/fd").catch(() => undefined)),
    (open) => {
      // One of them is the directory that is being read.
      if (open !== undefined) metrics.openFiles.of().value = open.length - 1
    }
  )

  const refresh = Effect.andThen(
    files,
    Effect.sync(() => {
      const { system, user } = process.cpuUsage()
      metrics.cpu.of("user").value = user / 1e6
      metrics.cpu.of("system").value = system / 1e6
      const { external, heapTotal, heapUsed, rss } = process.memoryUsage()
      const kinds = { resident: rss, heap_used: heapUsed, heap_total: heapTotal, external }
      for (const [kind, bytes] of Object.entries(kinds)) metrics.memory.of(kind).value = bytes
      metrics.loopBusy.of().value = performance.eventLoopUtilization().active / 1_000
      updateLoopDelay()
    })
  )
  return { refresh }
})
