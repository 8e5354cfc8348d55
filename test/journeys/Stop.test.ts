/** SIGTERM: requests that the drain cannot finish get a retryable error (decisions: SIGTERM, error codes). */
import { connect } from "node:net"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { freePort, ServerProcess, temporaryDirectory, TEST_KEY } from "@sluice/testing/servers/ServerProcess"

const directory = temporaryDirectory()
let server: ServerProcess
beforeAll(async () => {
  server = new ServerProcess({ port: await freePort(), data: directory.path, key: TEST_KEY })
  await server.start()
}, 300_000)
afterAll(async () => {
  await server.end("SIGKILL")
  directory.remove()
})

/** Sends half of a body and returns everything that comes back until the connection closes. */
const halfSent = (path: string): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect(server.options.port, "127.0.0.1")
    let text = ""
    socket.on("data", (bytes) => (text += bytes.toString()))
    socket.on("error", () => {})
    socket.on("close", () => resolve(text))
    const head = [`POST ${path} HTTP/1.1`, "host: localhost", `authorization: Bearer ${TEST_KEY}`]
    socket.write(`${[...head, "content-type: application/json", "content-length: 50000"].join("\r\n")}\r\n\r\n{`)
  })

describe("A server that stops", { timeout: 300_000 }, () => {
  it("answers unfinished requests with the retryable error of their surface", async () => {
    const jobs = "/api/v1/jobs"
    const videos = "/v1/videos"
    const paths = [jobs, videos, "/v1/embeddings", "/v1/chat/completions", "/v1/chat/completions?by=router"]
    const told = paths.map(halfSent)
    await new Promise((resolve) => setTimeout(resolve, 500))
    await server.end("SIGTERM")
    for (const [at, text] of (await Promise.all(told)).entries()) {
      assert.match(text, /^HTTP\/1\.1 503 /, paths[at])
      assert.match(text, /retry-after: 5/i, paths[at])
      const creates = paths[at] === jobs || paths[at] === videos
      assert.include(text, creates ? `"code":"service_unavailable"` : `"code":"server_stopping"`, paths[at])
      // The resource may exist, and a retry would make a second one.
      assert.strictEqual(/x-should-retry: false/i.test(text), creates, paths[at])
      assert.match(text, /x-request-id: /i, paths[at])
    }
  })
})
