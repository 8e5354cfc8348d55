/** `sluice serve --scenario FILE`: a world with its own supply, prices and faults behind the real API. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { freePort, ServerProcess, temporaryDirectory, TEST_KEY } from "@sluice/testing/servers/ServerProcess"

const chat = { kind: "chat", context_length: 1_000, max_output_tokens: 50 }
const gpu = { memory_gb: 80, max_gpu_count: 1, price_per_gpu_hour: 36, capacity: { moon: 1 } }
const scenario = {
  regions: [{ id: "moon", name: "The Moon" }],
  gpu_types: [
    { ...gpu, gpu_type: "B200" },
    { ...gpu, gpu_type: "OLD", refused: true }
  ],
  launch_seconds: [0, 0.1],
  set_up_seconds: [0, 0],
  stop_seconds: [0, 0],
  models: [
    { ...chat, id: "one", price_usd: { million_prompt_tokens: 0, million_completion_tokens: 1_000 } },
    { ...chat, id: "two", price_usd: { million_prompt_tokens: 0, million_completion_tokens: 0 } }
  ],
  model_latency: "none",
  programs: { python: `echo "$1: epoch 1"; sleep 5; echo epoch 2; exit 3` },
  faults: { model_500: 0.5, log_repeated: 1 }
}

const directory = temporaryDirectory()
const file = join(directory.path, "scenario.json")
let server: ServerProcess
beforeAll(async () => {
  writeFileSync(file, JSON.stringify(scenario))
  const flags = ["--scenario", file]
  server = new ServerProcess({ port: await freePort(), data: join(directory.path, "data"), key: TEST_KEY, flags })
  await server.start()
}, 300_000)
afterAll(async () => {
  await server.end("SIGTERM")
  directory.remove()
})

const submit = (gpu_type: string, command: string) =>
  server.call("POST", "/api/v1/jobs", { command, gpu_type, max_runtime_minutes: 5 })

describe("A scenario", { timeout: 300_000 }, () => {
  it("sets the GPU types and their prices", async () => {
    const { data } = (await server.call("GET", "/api/v1/instances/types")).json
    assert.deepStrictEqual(
      data.map(({ gpu_type, price_per_gpu_hour }: Record<string, unknown>) => [gpu_type, price_per_gpu_hour]),
      [
        ["B200", 36],
        ["OLD", 36]
      ]
    )
    const refused = await submit("OLD", "true")
    assert.strictEqual(refused.status, 500, refused.text)
    assert.include(refused.text, "refuses machines with OLD")
    const quoted = await server.call("POST", "/api/v1/jobs/quote", {
      command: "true",
      gpu_type: "B200",
      max_runtime_minutes: 60
    })
    assert.closeTo(quoted.json.data.cost_per_hour, 36, 1e-9)
  })

  it("injects its faults, and the job still succeeds with an exact log", async () => {
    const { json, status, text } = await submit("B200", "for i in 1 2 3 4 5; do echo line $i; sleep 0.3; done")
    assert.strictEqual(status, 201, text)
    const path = `/api/v1/jobs/${json.data.id}`
    // The machine delivers parts of the output twice; a follower gets each byte once.
    assert.strictEqual((await server.call("GET", `${path}/logs`)).text, "line 1\nline 2\nline 3\nline 4\nline 5\n")
    assert.strictEqual((await server.call("GET", path)).json.data.status, "succeeded")
    assert.include(server.output, "log_repeated")
  })

  it("reports that a job runs before its first output, however early that comes", async () => {
    for (let i = 0; i < 5; i++) {
      const { json } = await submit("B200", "echo at once; sleep 1")
      const path = `/api/v1/jobs/${json.data.id}/logs`
      const { text } = await server.call("GET", path, undefined, { accept: "text/event-stream" })
      const [running, log] = [text.indexOf('"running"'), text.indexOf("event: log")]
      assert.isAbove(log, -1)
      assert.isTrue(running > -1 && running < log, text)
    }
  })

  it("sets the models, their prices and their failure rates", async () => {
    const models = (await server.call("GET", "/v1/models")).json.data
    assert.deepStrictEqual(
      models.map(({ id }: { id: string }) => id),
      ["one", "two"]
    )
    const statuses = new Set<number>()
    for (let i = 0; i < 12; i++) {
      const body = { model: "one", messages: [{ role: "user", content: "Hello" }] }
      const { json, status } = await server.call("POST", "/v1/chat/completions", body)
      statuses.add(status)
      if (status === 200) assert.closeTo(json.usage.cost, json.usage.completion_tokens / 1_000, 1e-9)
    }
    assert.deepStrictEqual([...statuses].sort(), [200, 502])
    assert.include(server.output, "model_500")
  })

  it("sets the programs of machines; a running machine keeps its programs after a change", async () => {
    const { json } = await submit("B200", "python train.py")
    const path = `/api/v1/jobs/${json.data.id}`
    const log = async () => (await server.call("GET", `${path}/logs?follow=false`)).text
    while (!(await log()).includes("epoch 1")) await new Promise((resolve) => setTimeout(resolve, 50))
    await server.end("SIGKILL")
    writeFileSync(file, JSON.stringify({ ...scenario, programs: { python: "echo another" } }))
    await server.start()
    assert.strictEqual((await server.call("GET", `${path}/logs`)).text, "train.py: epoch 1\nepoch 2\n")
    const done = (await server.call("GET", path)).json.data
    assert.deepStrictEqual([done.status, done.exit_code], ["failed", 3])
    const next = (await submit("B200", "python train.py")).json.data
    assert.strictEqual((await server.call("GET", `/api/v1/jobs/${next.id}/logs`)).text, "another\n")
  })
})
