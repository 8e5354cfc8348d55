/** A server compiles no bridge from WebAssembly to JavaScript: V8 can abort over those (`nodeFlags` of `launch.mjs`). */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { nodeFlags } from "../../scripts/launch.mjs"
import { freePort, ServerProcess, temporaryDirectory, TEST_KEY } from "@sluice/testing/servers/ServerProcess"

/** The bridges that V8 compiled in a server that started, ran a job's shell and counted tokens. */
const bridges = async (flags: ReadonlyArray<string>): Promise<number> => {
  const directory = temporaryDirectory()
  const log = join(directory.path, "v8.log")
  const node = [...flags, "--log-code", "--no-logfile-per-isolate", `--logfile=${log}`]
  const server = new ServerProcess({ port: await freePort(), data: join(directory.path, "data"), key: TEST_KEY, node })
  try {
    await server.start()
    const job = { command: "echo done", gpu_type: "H100", max_runtime_minutes: 5 }
    const { data } = (await server.call("POST", "/api/v1/jobs", job)).json
    await server.call("GET", `/api/v1/jobs/${data.id}/logs?follow=true`)
    await server.call("POST", "/v1/chat/completions", {
      model: "sluice-small",
      max_tokens: 20,
      messages: [{ role: "user", content: "Hello!" }]
    })
    await server.end("SIGTERM")
    return readFileSync(log, "utf8").split("wasm-to-js").length - 1
  } finally {
    await server.end("SIGKILL")
    directory.remove()
  }
}

describe("Bridges from WebAssembly to JavaScript", { timeout: 300_000 }, () => {
  it("are not compiled with the flags of the checkout, and would be without", async () => {
    assert.strictEqual(await bridges(nodeFlags), 0)
    assert.isAbove(await bridges([]), 0)
  })
})
