/** The process is seen as it is: its memory, its processor time, and an event loop that was held up. */
import { assert, describe, it } from "@effect/vitest"
import { makeProcessMeters } from "@sluice/server/metrics/ProcessMeters"
import * as ServerMeters from "@sluice/server/metrics/ServerMeters"
import { Effect } from "effect"
import { readFileSync } from "node:fs"

const BLOCKED_MS = 150
const hold = (ms: number) =>
  Effect.sync(() => {
    const until = performance.now() + ms
    while (performance.now() < until);
  })

describe("The process's gauges", () => {
  it.live("tell of memory, processor time, and a loop that was held up", () =>
    Effect.gen(function* () {
      const meters = yield* ServerMeters.ServerMeters
      const { refresh } = yield* makeProcessMeters
      yield* Effect.sleep("60 millis")
      yield* refresh
      const busy = meters.loopBusy.of().value
      const cpu = meters.cpu.of("user").value
      yield* hold(BLOCKED_MS)
      yield* Effect.sleep("60 millis")
      yield* refresh
      const worst = meters.loopDelay.of("100").value
      assert.isAtLeast(worst, (BLOCKED_MS - 30) / 1_000)
      assert.isAtMost(meters.loopDelay.of("50").value, worst)
      assert.isAtLeast(meters.loopBusy.of().value - busy, (BLOCKED_MS - 30) / 1_000)
      assert.isAbove(meters.cpu.of("user").value, cpu)
      assert.isAbove(meters.memory.of("resident").value, meters.memory.of("heap_used").value)
      const age = Date.now() / 1_000 - meters.startTime.of().value
      assert.closeTo(age, process.uptime(), 1)
    }).pipe(Effect.scoped, Effect.provide(ServerMeters.layer))
  )

  it.live("say which version runs", () =>
    Effect.gen(function* () {
      yield* makeProcessMeters
      const { version } = JSON.parse(readFileSync(new URL("../../../../package.json", import.meta.url), "utf8"))
      const { build } = yield* ServerMeters.ServerMeters
      assert.deepStrictEqual(
        [...build.all],
        [{ values: [version, process.versions.node], content: build.of(version, process.versions.node) }]
      )
    }).pipe(Effect.scoped, Effect.provide(ServerMeters.layer))
  )
})
