import { spawn } from "node:child_process"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { freshDatabase } from "/work/main/test/support/Postgres.ts"
import { NODE, TEST_KEY, freePort } from "/work/main/test/support/ServerProcess.ts"
import { closedLoop, call, startLatency } from "/work/main/bench/Load.ts"
const pause = (ms: number) => new Promise((r) => setTimeout(r, ms))
await Effect.runPromise(Effect.scoped(Effect.gen(function* () {
  const url = yield* freshDatabase
  yield* Effect.promise(async () => {
    const port = await freePort()
    const prof = process.env.PROF ? ["--cpu-prof", "--cpu-prof-dir=/tmp/prof"] : []
    const child = spawn(NODE, ["--no-warnings", ...prof, "/work/main/bench/server.ts", String(port), url, TEST_KEY, "/tmp/latd"], { stdio: "inherit" })
    for (;;) { if (await fetch(`http://127.0.0.1:${port}/readyz`).then((r) => r.ok, () => false)) break; await pause(100) }
    const r = await fetch(`http://127.0.0.1:${port}/api/v1/api-keys`, { method: "POST", headers: { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json" }, body: JSON.stringify({ name: "b", rate_limit_rpm: 1000000 }) })
    const key = JSON.parse(await r.text()).data.key
    const target = { port, path: "/api/v1/jobs", key, body: JSON.stringify({ command: "true", gpu_type: "H100", max_runtime_minutes: 5 }) }
    await closedLoop(target, 8, 2)
    await pause(4000)
    const t: number[] = []
    for (let i = 0; i < 60; i++) { const at = performance.now(); await call(target, "POST"); t.push(performance.now() - at); await pause(30) }
    t.sort((a, b) => a - b); console.log("POST alone p50", t[30].toFixed(2), "p90", t[54].toFixed(2))
    const s = await startLatency(target, 60); console.log("POST->running p50", s[30].toFixed(2), "p90", s[54].toFixed(2))
    const g: number[] = []
    for (let i = 0; i < 60; i++) { const at = performance.now(); await call({ ...target, path: "/api/v1/jobs?limit=1" }, "GET"); g.push(performance.now() - at) }
    g.sort((a, b) => a - b); console.log("GET list p50", g[30].toFixed(2))
    if (process.env.LOADRUN) { const m = await closedLoop(target, 32, 6); console.log("load", (m.requests / m.seconds).toFixed(0), "req/s p50", m.p50.toFixed(1)) }
    child.kill("SIGTERM"); await pause(3000); child.kill("SIGKILL")
  })
})))
process.exit(0)
