/** A log that is followed ends with the key that opened it (decisions: a key fails on every replica within 1 s). */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { freePort, ServerProcess, temporaryDirectory, TEST_KEY } from "../support/ServerProcess.ts"

const directory = temporaryDirectory()
let server: ServerProcess
beforeAll(async () => {
  server = new ServerProcess({ port: await freePort(), data: directory.path, key: TEST_KEY })
  await server.start()
}, 120_000)
afterAll(async () => {
  await server.end("SIGTERM")
  directory.remove()
})

describe("A key that is gone", { timeout: 60_000 }, () => {
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
  }
})
