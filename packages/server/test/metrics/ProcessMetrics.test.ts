/** Gauges of the process: memory, processor time, and a blocked event loop. */
import { assert, describe, it } from "@effect/vitest"
import { makeProcessMetrics } from "@sluice/server/metrics/ProcessMetrics"
import * as ServerMetrics from "@sluice/server/metrics/ServerMetrics"
import { Effect } from "effect"
import { readFileSync } from "node:fs"

const BLOCKED_MS = 150
const hold = (ms: number) =>
  Effect.sync(() => {
    const until = performance.now() + ms
    while (performance.now() < until);
  })

describe("The process's gauges", () => {
  it.live("show memory, processor time, and a blocked event loop", () =>
    Effect.gen(function* () {
      const metrics = yield* ServerMetrics.ServerMetrics
      const { refresh } = yield* makeProcessMetrics
      yield* Effect.sleep("60 millis")
      yield* refresh
      const busy = metrics.loopBusy.of().value
      const cpu = metrics.cpu.of("user").value
      yield* hold(BLOCKED_MS)
      yield* Effect.sleep("60 millis")
      yield* refresh
      const worst = metrics.loopDelay.of("100").value
      assert.isAtLeast(worst, (BLOCKED_MS - 30) / 1_000)
      assert.isAtMost(metrics.loopDelay.of("50").value, worst)
      assert.isAtLeast(metrics.loopBusy.of().value - busy, (BLOCKED_MS - 30) / 1_000)
      assert.isAbove(metrics.cpu.of("user").value, cpu)
      assert.isAbove(metrics.memory.of("resident").value, metrics.memory.of("heap_used").value)
      const age = Date.now() / 1_000 - metrics.startTime.of().value
      assert.closeTo(age, process.uptime(), 60)
    }).pipe(Effect.scoped, Effect.provide(ServerMetrics.layer))
  )

  it.live("show the running version", () =>
    Effect.gen(function* () {
      yield* makeProcessMetrics
      const { version } = JSON.parse(readFileSync(new URL("../../../../package.json", import.meta.url), "utf8"))
      const { build } = yield* ServerMetrics.ServerMetrics
      assert.deepStrictEqual(
        [...build.all],
        [{ values: [version, process.versions.node], content: build.of(version, process.versions.node) }]
      )
    }).pipe(Effect.scoped, Effect.provide(ServerMetrics.layer))
  )
})
