/** A real server on a port of its own that answers as a test says, and remembers what it was sent and who is still there. */
import { Effect } from "effect"
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http"

export interface Seen {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly json: any
}

export type Script = (seen: Seen, response: ServerResponse, request: IncomingMessage) => void

export interface RecordedServer {
  readonly port: number
  /** With `/v1`. */
  readonly url: string
  readonly seen: Array<Seen>
  /** Sockets that are open now. */
  readonly sockets: Set<unknown>
  /** Of answers that nobody waits for any more. */
  hungUp: number
  /** Changes what is answered. */
  script: Script
}

export const recordedServer = (script: Script) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const seen: Array<Seen> = []
      const sockets = new Set<unknown>()
      const server = createServer((request, response) => {
        const parts: Array<Buffer> = []
        request.on("data", (part: Buffer) => parts.push(part))
        request.on("end", () => {
          const body = Buffer.concat(parts)
          const one: Seen = {
            method: request.method ?? "",
            path: request.url ?? "",
            headers: request.headers,
            body,
            json: request.headers["content-type"] === "application/json" ? JSON.parse(body.toString()) : undefined
          }
          seen.push(one)
          response.on("close", () => {
            if (!response.writableFinished) recorded.hungUp++
          })
          recorded.script(one, response, request)
        })
      })
      server.on("connection", (socket) => {
        sockets.add(socket)
        socket.on("close", () => sockets.delete(socket))
      })
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      const recorded: RecordedServer & { readonly end: () => Promise<void> } = {
        port,
        url: `http://127.0.0.1:${port}/v1`,
        seen,
        sockets,
        hungUp: 0,
        script,
        end: () =>
          new Promise((resolve) => {
            server.close(() => resolve())
            server.closeAllConnections()
          })
      }
      return recorded
    }),
    (recorded) => Effect.promise(recorded.end)
  )

export const says = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) => {
  response.writeHead(status, { "content-type": "application/json", ...headers })
  response.end(typeof body === "string" ? body : JSON.stringify(body))
}

/** Sends `text` as a stream of events, in `pieces` bytes at a time. */
export const streams = (response: ServerResponse, text: string, end = true) => {
  response.writeHead(200, { "content-type": "text/event-stream" })
  response.write(text)
  if (end) response.end()
}

/** Events with a `data:` line each. */
export const events = (...chunks: ReadonlyArray<unknown>): string =>
  chunks.map((chunk) => `data: ${typeof chunk === "string" ? chunk : JSON.stringify(chunk)}\n\n`).join("")

export const delta = (said: unknown, finish: string | null = null, more: object = {}) => ({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 1,
  model: "secret-upstream-name",
  choices: [{ index: 0, delta: said, finish_reason: finish }],
  ...more
})

/** The plain answer `Hello there`, 5 and 2 tokens. */
export const hello = events(
  delta({ role: "assistant", content: "" }),
  delta({ content: "Hello" }),
  delta({ content: " there" }),
  delta({}, "stop"),
  { choices: [], usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 } },
  "[DONE]"
)

export const helloWhole = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "secret-upstream-name",
  choices: [{ index: 0, message: { role: "assistant", content: "Hello there" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }
}

/** Answers `hello`, as it was asked. */
export const greets: Script = (seen, response) => {
  if (seen.json?.stream === true) streams(response, hello)
  else says(response, 200, helloWhole)
}
