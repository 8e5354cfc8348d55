/** `sluice serve` writes its log to standard error and keeps Node's compile cache. */
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { afterAll, expect, it } from "vitest"
import { freePort, ServerProcess, temporaryDirectory, TEST_KEY } from "@sluice/testing/servers/ServerProcess"

const directory = temporaryDirectory()
afterAll(directory.remove)

it("a server without a reachable Redis logs that rate limits are not shared, and still answers", async () => {
  const nobody = await freePort()
  const flags = ["--redis-url", `redis://:hunter2@127.0.0.1:${nobody}`]
  const server = new ServerProcess({ port: await freePort(), data: directory.path, key: TEST_KEY, flags })
  let errors = ""
  const child = server.spawn()
  child.stderr?.on("data", (bytes: Buffer) => (errors += bytes.toString()))
  try {
    expect(await server.ready(child)).toBe(true)
    expect((await server.call("GET", "/readyz")).json).toEqual({ status: "ready", rate_limits: "per_replica" })
    expect((await server.call("GET", "/v1/models")).status).toBe(200)
  } finally {
    await server.end()
  }
  expect(errors.split(`Redis at 127.0.0.1:${nobody}/0 is lost (ECONNREFUSED)`)).toHaveLength(2)
  expect(server.output).not.toContain("hunter2")
})

it("the compile cache survives when the server is killed", async () => {
  const cache = join(directory.path, "compiled")
  const server = new ServerProcess({ port: await freePort(), data: join(directory.path, "data"), key: TEST_KEY })
  const child = server.spawn({ NODE_COMPILE_CACHE: cache })
  expect(await server.ready(child)).toBe(true)
  await expect.poll(() => server.output).toContain("Ctrl-C stops the server")
  await expect.poll(() => readdirSync(cache, { recursive: true }).length).toBeGreaterThan(100)
  await server.end("SIGKILL")
})
