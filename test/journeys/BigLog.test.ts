/**
 * 13 MB of output: the first and the newest 5 MB are kept, one line says what was dropped, and who followed live missed
 * nothing (decisions: Jobs, logs). The real server, the real HTTP stream.
 */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { freePort, ServerProcess, temporaryDirectory, TEST_KEY } from "@sluice/testing/servers/ServerProcess"

const LINES = 13_000
const LIMIT = 10_485_760
const line = (i: number) => `${String(i).padStart(7, "0")}${"x".repeat(1_040)}\n`
const whole = Array.from({ length: LINES }, (_, i) => line(i + 1)).join("")
const command = `x=${"x".repeat(1_040)}; for i in $(seq -w 1 ${LINES}); do echo 00$i$x; done; sleep 1`

const directory = temporaryDirectory()
let server: ServerProcess
beforeAll(async () => {
  server = new ServerProcess({ port: await freePort(), data: directory.path, key: TEST_KEY, speed: 5 })
  await server.start()
}, 300_000)
afterAll(async () => {
  await server.end("SIGTERM")
  directory.remove()
})

describe("A log past 10 MB", () => {
  it("drops its middle for good, and nothing for who reads it live", { timeout: 300_000 }, async () => {
    const body = { command, gpu_type: "H100", max_runtime_minutes: 30 }
    const submitted = await server.call("POST", "/api/v1/jobs", body)
    assert.strictEqual(submitted.status, 201, submitted.text)
    const path = `/api/v1/jobs/${submitted.json.data.id}`
    const live = (await server.call("GET", `${path}/logs`)).text
    assert.strictEqual(live.length, whole.length)
    assert.isTrue(live === whole, "the live reader has every byte")

    const job = (await server.call("GET", path)).json.data
    assert.strictEqual(job.status, "succeeded")
    assert.strictEqual(job.log_bytes, LIMIT)
    assert.isTrue(job.logs_truncated)
    const kept = (await server.call("GET", `${path}/logs`)).text
    const half = LIMIT / 2
    const dropped = whole.length - LIMIT
    const expected = `${whole.slice(0, half)}\n[... ${dropped} bytes dropped ...]\n${whole.slice(-half)}`
    assert.strictEqual(kept.length, expected.length)
    assert.isTrue(kept === expected, "the kept log is head, mark and tail")

    assert.strictEqual((await server.call("GET", `${path}/logs?tail=2`)).text, line(LINES - 1) + line(LINES))
    const offset = whole.length - 100
    assert.strictEqual((await server.call("GET", `${path}/logs?offset=${offset}`)).text, whole.slice(offset))
  })
})
