/** The floor of the language: node:http that parses a JSON chat request and answers JSON. No validation, no key, no usage. */
import { createServer } from "node:http"

const answer = {
  id: "chatcmpl-raw",
  object: "chat.completion",
  created: 0,
  model: "raw",
  choices: [
    {
      index: 0,
      message: { role: "assistant", content: "A short answer of some twenty words. ".repeat(4) },
      finish_reason: "stop"
    }
  ],
  usage: { prompt_tokens: 20, completion_tokens: 32, total_tokens: 52 }
}

createServer((request, response) => {
  const parts: Array<Buffer> = []
  request.on("data", (part: Buffer) => parts.push(part))
  request.on("end", () => {
    const body: { readonly model?: string } =
      request.method === "POST" ? JSON.parse(Buffer.concat(parts).toString()) : {}
    const text = JSON.stringify({ ...answer, model: body.model })
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) })
    response.end(text)
  })
}).listen(Number(process.argv[2]), "127.0.0.1")
