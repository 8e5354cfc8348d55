/** A log that is followed and an answer that streams end with their key (decisions: a key fails on every replica within 1 s). */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { freePort, ServerProcess, temporaryDirectory, TEST_KEY } from "@sluice/testing/servers/ServerProcess"

/** Machines that are there at once: a launch takes seconds otherwise. */
const world = { launch_seconds: [0, 0.1], set_up_seconds: [0, 0], stop_seconds: [0, 0] }

const directory = temporaryDirectory()
let server: ServerProcess
beforeAll(async () => {
  const file = join(directory.path, "scenario.json")
  writeFileSync(file, JSON.stringify(world))
  const data = join(directory.path, "data")
  server = new ServerProcess({ port: await freePort(), data, key: TEST_KEY, flags: ["--scenario", file] })
  await server.start()
}, 300_000)
afterAll(async () => {
  await server.end("SIGTERM")
  directory.remove()
})

describe("A key that is gone", { timeout: 300_000 }, () => {
  for (const [what, end] of [
    ["deactivated", (path: string) => server.call("PATCH", path, { status: "inactive" })],
    ["deleted", (path: string) => server.call("DELETE", path)]
  ] as const) {
    it(`${what}: keeps no log open`, async () => {
      const { data: key } = (await server.call("POST", "/api/v1/api-keys", { name: what })).json
      const job = { command: "while sleep 0.2; do echo tick; done", gpu_type: "H100", max_runtime_minutes: 5 }
      const { data } = (await server.call("POST", "/api/v1/jobs", job)).json
      const path = `${server.origin}/api/v1/jobs/${data.id}/logs`
      const follow = await fetch(path, { headers: { authorization: `Bearer ${key.key}` } })
      const reader = follow.body!.getReader()
      const first = await reader.read()
      assert.isFalse(first.done)
      await end(`/api/v1/api-keys/${key.id}`)
      const rest = (async () => {
        while (!(await reader.read()).done);
      })()
      // Broken off, not ended: the log goes on for who may read it.
      await rest.then(
        () => assert.fail("the log ended as if it were whole"),
        (error: Error) => assert.include(error.message, "terminated")
      )
      assert.strictEqual((await server.call("GET", `/api/v1/jobs/${data.id}`)).json.data.status, "running")
      await server.call("POST", `/api/v1/jobs/${data.id}/cancel`)
    })

    it(`${what}: ends an answer with an error, and what was produced is charged`, async () => {
      const { data: key } = (await server.call("POST", "/api/v1/api-keys", { name: `${what} talks` })).json
      const spent = async () => (await server.call("GET", "/api/v1/billing/usage")).json.data.total_cost
      const before = await spent()
      const answer = await fetch(`${server.origin}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key.key}`, "content-type": "application/json" },
        body: JSON.stringify({
          model: "sluice-large",
          stream: true,
          max_tokens: 4_000,
          messages: [{ role: "user", content: "Write a very long story of many thousand words." }]
        })
      })
      const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
      let text = (await reader.read()).value!
      await end(`/api/v1/api-keys/${key.id}`)
      for (let read = await reader.read(); !read.done; read = await reader.read()) text += read.value
      assert.include(text, "invalid_api_key")
      assert.notInclude(text, "[DONE]")
      assert.isAbove(await spent(), before)
    })
  }
})
