/** The text of `sluice chat` for a refusal of the model. */
import { refusalChunk, streamEnd } from "@sluice/api/inference/chat/ChatWire"
import { createServer } from "node:http"
import { expect, it } from "vitest"
import { cli } from "./support/Cli.ts"

it("chat prints a refusal of the model as the answer", async () => {
  const start = 'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":'
  const usage = { promptTokens: 1, completionTokens: 2, cost: 3n }
  const choices = [{ text: "", calls: [], reason: "stop" as const }]
  const end = streamEnd(start, { head: { id: "1", created: 1, model: "m" }, choices, usage }, true)
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.end(refusalChunk(start, 0, "I ", true) + refusalChunk(start, 0, "won't.", false) + end)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/v1`
  const { code, out } = await cli(["chat", "-m", "m", "hello"], {
    SLUICE_API_KEY: "svc_live_0123456789abcdef",
    SLUICE_BASE_URL: url
  }).finally(() => server.close())
  expect([code, out]).toEqual([0, "I won't.\n"])
})
