/**
 * Images by link through the whole server, with an image server and a model server on this machine and OpenAI's client. The model
 * gets data: URLs, a caller that disconnects cancels its fetch, and without the operator's flags every link is refused.
 */
import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import OpenAI, { APIError } from "openai"
import { chatEntry } from "@sluice/testing/servers/Gateways"
import { freePort, ServerProcess, temporaryDirectory, TEST_KEY } from "@sluice/testing/servers/ServerProcess"

const directory = temporaryDirectory()
const PNG = Buffer.from("89504e470d0a1a0a", "hex")
const ANSWER = { choices: [{ index: 0, message: { role: "assistant", content: "A dot." }, finish_reason: "stop" }] }

interface Listening {
  readonly server: Server
  readonly origin: string
}
const listening = async (answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<Listening> => {
  const server = createServer(answer).listen(0, "127.0.0.1")
  await once(server, "listening")
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

let images: Listening
let model: Listening
let open: ServerProcess
let publicOnly: ServerProcess
let closed: ServerProcess
const paths: Array<string> = []
/** The bodies that the model server received. */
const prompts: Array<string> = []
/** The video orders that it received, as forms. */
const orders: Array<Buffer> = []
let ordered = () => {}
let hungUp = () => {}

beforeAll(async () => {
  images = await listening((request, response) => {
    paths.push(request.url ?? "")
    if (request.url === "/moved.png") return response.writeHead(307, { location: "/a.png" }).end()
    if (request.url === "/page") return response.writeHead(200, { "content-type": "text/html" }).end("SECRET")
    response.writeHead(200, { "content-type": "image/png" })
    if (request.url !== "/slow.png") return response.end(PNG)
    response.write(PNG)
    return response.on("close", () => hungUp())
  })
  model = await listening((request, response) => {
    const parts: Array<Buffer> = []
    request.on("data", (part: Buffer) => parts.push(part))
    request.on("end", () => {
      if (request.url?.startsWith("/v1/videos") === true) {
        if (request.method === "POST") orders.push(Buffer.concat(parts))
        ordered()
        return response.writeHead(200, { "content-type": "application/json" }).end('{"id":"film","status":"queued"}')
      }
      prompts.push(Buffer.concat(parts).toString())
      const body = prompts.at(-1)!.includes('"stream":true')
        ? `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: "A dot." }, finish_reason: "stop" }] })}\n\ndata: [DONE]\n\n`
        : JSON.stringify(ANSWER)
      response.writeHead(200, { "content-type": body.startsWith("data") ? "text/event-stream" : "application/json" })
      return response.end(body)
    })
  })
  const file = join(directory.path, "models.json")
  const upstream = { base_url: `${model.origin}/v1` }
  writeFileSync(
    file,
    JSON.stringify({ models: [{ ...chatEntry("seer", upstream), vision: true }, filmEntry(upstream)] })
  )
  const started = async (name: string, switches: ReadonlyArray<string>, variables: Record<string, string> = {}) => {
    const flags = ["--models", file, ...switches]
    const data = join(directory.path, name)
    const server = new ServerProcess({ port: await freePort(), data, key: TEST_KEY, flags })
    if (!(await server.ready(server.spawn(variables)))) throw new Error(server.output)
    return server
  }
  // No proxy listens there: a request through it would fail.
  const proxy = {
    NODE_USE_ENV_PROXY: "1",
    HTTP_PROXY: `http://127.0.0.1:${await freePort()}`,
    SLUICE_ALLOW_IMAGE_URLS: "1"
  }
  ;[open, publicOnly, closed] = await Promise.all([
    started("open", ["--allow-private-targets"], proxy),
    started("public", ["--allow-image-urls"]),
    started("closed", [])
  ])
}, 300_000)
afterAll(async () => {
  await Promise.all([open, publicOnly, closed].map((server) => server?.end("SIGKILL")))
  for (const listener of [images, model]) {
    listener?.server.closeAllConnections()
    listener?.server.close()
  }
  directory.remove()
})

const filmEntry = (upstream: object) => ({
  kind: "video",
  id: "filmer",
  sizes: ["640x368"],
  seconds: [4],
  price_usd: { second: 0.1 },
  upstreams: [upstream]
})
const film = async ({ origin }: ServerProcess, url: string, key?: string) => {
  const answer = await fetch(`${origin}/v1/videos`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${TEST_KEY}`,
      "content-type": "application/json",
      ...(key === undefined ? {} : { "idempotency-key": key })
    },
    body: JSON.stringify({ model: "filmer", prompt: "A river.", input_reference: { image_url: url } })
  })
  return { status: answer.status, body: (await answer.json()) as Record<string, Record<string, string>> }
}
const clientOf = ({ origin }: ServerProcess) => new OpenAI({ apiKey: TEST_KEY, baseURL: `${origin}/v1`, maxRetries: 0 })
const chat = (url: string) => ({
  model: "seer",
  messages: [
    {
      role: "user" as const,
      content: [
        { type: "text" as const, text: "What is this?" },
        { type: "image_url" as const, image_url: { url } }
      ]
    }
  ]
})
const response = (url: string) => ({
  model: "seer",
  input: [
    {
      role: "user" as const,
      content: [
        { type: "input_text" as const, text: "What is this?" },
        { type: "input_image" as const, image_url: url, detail: "auto" as const }
      ]
    }
  ]
})
const refused = (asked: PromiseLike<unknown>) =>
  Promise.resolve(asked).then(
    () => expect.unreachable("no error came"),
    (error: unknown) => {
      if (!(error instanceof APIError)) throw error
      return error
    }
  )

const SEEN = `data:image/png;base64,${PNG.toString("base64")}`

describe("Images by link", () => {
  it("reach the model as data: URLs, in chats and responses, streamed and buffered", { timeout: 300_000 }, async () => {
    const client = clientOf(open)
    const url = `${images.origin}/a.png`
    const whole = await client.chat.completions.create(chat(url))
    expect(whole.choices[0]?.message.content).toBe("A dot.")
    await client.chat.completions.stream(chat(`${images.origin}/moved.png`)).finalChatCompletion()
    expect((await client.responses.create(response(url))).output_text).toBe("A dot.")
    const events = await client.responses.create({ ...response(url), stream: true })
    const types: Array<string> = []
    for await (const event of events) types.push(event.type)
    expect(types.at(-1)).toBe("response.completed")
    expect(paths).toEqual(["/a.png", "/moved.png", "/a.png", "/a.png", "/a.png"])
    expect(prompts).toHaveLength(4)
    for (const prompt of prompts) expect(prompt.split(SEEN)).toHaveLength(2)
    expect(prompts.join()).not.toContain(images.origin)
    const sent = await client.chat.completions.create(chat(SEEN))
    expect(sent.usage).toEqual(whole.usage)
  })

  it("that cannot be fetched name the field, and reveal nothing about the address", { timeout: 300_000 }, async () => {
    const asked = prompts.length
    const page = await refused(clientOf(open).chat.completions.create(chat(`${images.origin}/page`)))
    expect(page).toMatchObject({
      status: 400,
      type: "invalid_request_error",
      param: "messages.0.content.1.image_url.url"
    })
    expect(page.message).toContain("Content-Type")
    const odd = await refused(clientOf(open).responses.create(response("http://0x7f.1/a.png")))
    expect(odd).toMatchObject({ status: 400, param: "input.0.content.1.image_url" })
    expect(odd.message).toContain("'input.0.content.1.image_url': the host must be a plain name")
    const inside = await refused(clientOf(publicOnly).chat.completions.create(chat(`${images.origin}/a.png`)))
    const nobody = await refused(clientOf(publicOnly).chat.completions.create(chat("http://nobody.invalid/a.png")))
    expect(inside).toMatchObject({ status: 400, param: "messages.0.content.1.image_url.url" })
    expect(inside.message).toBe(nobody.message)
    for (const { message } of [page, odd, inside]) expect(message).not.toMatch(/SECRET|127\.0|ECONN/)
    expect([prompts.length, paths.filter((path) => path === "/a.png").length]).toEqual([asked, 4])
  })

  it("are cancelled when the caller disconnects", { timeout: 300_000 }, async () => {
    const gone = new Promise<void>((resolve) => (hungUp = resolve))
    const leaving = new AbortController()
    const asked = clientOf(open).chat.completions.create(chat(`${images.origin}/slow.png`), { signal: leaving.signal })
    const [request] = (await once(images.server, "request")) as [IncomingMessage]
    expect(request.url).toBe("/slow.png")
    leaving.abort()
    await expect(asked).rejects.toThrow()
    await gone
  })

  it("are the first frame of a video, fetched once for a repeated order", { timeout: 300_000 }, async () => {
    const taken = new Promise<void>((resolve) => (ordered = resolve))
    const before = paths.length
    const first = await film(open, `${images.origin}/a.png`, "a river")
    expect([first.status, first.body["status"]]).toEqual([200, "queued"])
    await taken
    expect(orders).toHaveLength(1)
    expect(orders[0]!.includes(PNG)).toBe(true)
    expect(orders[0]!.includes(images.origin)).toBe(false)
    const again = await film(open, `${images.origin}/a.png`, "a river")
    expect([again.status, again.body["id"]]).toEqual([200, first.body["id"]])
    expect(paths.slice(before)).toEqual(["/a.png"])
    const page = await film(open, `${images.origin}/page`)
    expect([page.status, page.body["error"]]).toMatchObject([400, { param: "input_reference" }])
    expect(page.body["error"]!["message"]).toContain("Content-Type")
    const inside = await film(publicOnly, `${images.origin}/a.png`)
    expect([inside.status, inside.body["error"]]).toMatchObject([400, { param: "input_reference" }])
    const refusal = await film(closed, `${images.origin}/a.png`)
    expect([refusal.status, refusal.body["error"]]).toMatchObject([400, { param: "input_reference" }])
    expect(refusal.body["error"]!["message"]).toContain("--allow-image-urls")
    expect(paths.slice(before)).toEqual(["/a.png", "/page"])
  })

  it("are refused unless the operator allows them", { timeout: 300_000 }, async () => {
    const before = paths.length
    const url = `${images.origin}/a.png`
    const chatted = await refused(clientOf(closed).chat.completions.create(chat(url)))
    expect(chatted).toMatchObject({ status: 400, param: "messages.0.content.1.image_url.url" })
    expect(chatted.message).toMatch(/only data: URLs .*--allow-image-urls/)
    const responded = await refused(clientOf(closed).responses.create({ ...response(url), stream: true }))
    expect(responded).toMatchObject({ status: 400, param: "input.0.content.1.image_url" })
    expect(paths).toHaveLength(before)
  })
})
