/** Pipelined requests: a few run at once, others wait in order, and none begins after its caller has left. */
import { EventEmitter } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { connect, type Socket } from "node:net"
import { afterEach, describe, expect, it } from "vitest"
import {
  MAX_CONCURRENT,
  MAX_BYTES,
  MAX_BYTES_IN_ALL,
  MAX_BODY_BYTES,
  MAX_WAITING,
  PipelinedRequests
} from "../../src/http/PipelinedRequests.ts"

const begun: Array<{ readonly source: IncomingMessage; readonly response: ServerResponse }> = []
const pipelines = new PipelinedRequests((source, response, over) => {
  response.on("close", over)
  begun.push({ source, response })
})
const server = createServer((source, response) => pipelines.enter(source, response))
const port = new Promise<number>((resolve) => {
  server.listen(0, "127.0.0.1", () => resolve((server.address() as { readonly port: number }).port))
})

const opened = async () => {
  const socket = connect(await port, "127.0.0.1")
  const heard = { text: "" }
  socket.on("data", (bytes) => (heard.text += bytes))
  socket.on("error", () => {})
  return { socket, heard }
}
const ask = (socket: Socket, count: number, body = "") => {
  const head = (n: number) => `POST /${n} HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n`
  for (let n = 0; n < count; n++) socket.write(head(n) + body)
}
const still = () => new Promise((resolve) => setTimeout(resolve, 60))
/** Waits until the given number has begun, and checks that no more begin. */
const begins = async (count: number) => {
  for (let n = 0; n < 100 && begun.length < count; n++) await still()
  await still()
  expect(begun.length).toBe(count)
}

/** A connection under observation and the requests that it may begin; all its requests have this head. */
const looked = (pipelines: PipelinedRequests, head: Partial<IncomingMessage> = {}) => {
  const socket = Object.assign(new EventEmitter(), { destroyed: false, destroy: () => void 0 })
  socket.destroy = () => {
    socket.destroyed = true
    socket.emit("close")
  }
  const source = { socket, headers: {}, rawHeaders: [], ...head } as unknown as IncomingMessage
  const enter = (count: number) => {
    for (let n = 0; n < count; n++) pipelines.enter(source, {} as ServerResponse)
  }
  return { enter, socket }
}

describe("The requests of all connections", () => {
  const MAX_WAITING_IN_ALL = 15_000

  it("share one limit; a connection that exceeds it is closed, until requests are answered or callers leave", () => {
    const overs: Array<() => void> = []
    const all = new PipelinedRequests((_, __, over) => void overs.push(over))
    const full = Array.from({ length: MAX_WAITING_IN_ALL / MAX_WAITING }, () => looked(all))
    for (const { enter } of full) enter(MAX_CONCURRENT + MAX_WAITING)
    expect(full.filter(({ socket }) => socket.destroyed)).toEqual([])
    const another = () => {
      const one = looked(all)
      one.enter(MAX_CONCURRENT + 1)
      return one.socket.destroyed
    }
    expect(another()).toBe(true)
    overs[0]!()
    expect([another(), another()]).toEqual([false, true])
    // The second connection's waiting requests are dropped with it; none begins after one of them has ended.
    full[1]!.socket.destroy()
    const begun = overs.length
    overs[MAX_CONCURRENT]!()
    full[1]!.enter(1)
    expect(overs).toHaveLength(begun)
    const next = looked(all)
    next.enter(MAX_CONCURRENT + MAX_WAITING)
    expect(next.socket.destroyed).toBe(false)
    expect(another()).toBe(true)
  })

  it("count by their heads and by the most that their bodies may hold, while they wait", () => {
    const heads: ReadonlyArray<readonly [Partial<IncomingMessage>, number]> = [
      [{ rawHeaders: ["cookie", "x".repeat(9_994)] }, 10_000],
      [{ url: `/?${"x".repeat(9_998)}` }, 10_000],
      [{ headers: { "content-length": "10000" } }, 10_000],
      [{ headers: { "content-length": "10000000" } }, MAX_BODY_BYTES]
    ]
    for (const [head, bytes] of heads) {
      const overs: Array<() => void> = []
      const { enter, socket } = looked(new PipelinedRequests((_, __, over) => void overs.push(over)), head)
      const most = Math.floor(MAX_BYTES / bytes)
      enter(MAX_CONCURRENT + most)
      // Each request that begins frees room for another, so more requests than the limit pass in total.
      for (let n = 0; n < 2 * most; n++) {
        overs[n]!()
        enter(1)
      }
      expect([head, socket.destroyed]).toEqual([head, false])
      enter(1)
      expect([head, socket.destroyed]).toEqual([head, true])
    }
  })
})

describe("The requests of one connection", () => {
  afterEach(() => {
    server.closeAllConnections()
    begun.length = 0
  })

  it("run up to the limit at once, and each other one after one has ended", async () => {
    const { heard, socket } = await opened()
    ask(socket, 1_000)
    await begins(MAX_CONCURRENT)
    begun[0]!.response.end("first")
    await begins(MAX_CONCURRENT + 1)
    for (let n = 1; n < 1_000; n++) {
      for (let turn = 0; turn < 200 && begun[n] === undefined; turn++) await new Promise(setImmediate)
      begun[n]!.response.end()
    }
    await begins(1_000)
    expect(begun.map(({ source }) => source.url)).toEqual(Array.from({ length: 1_000 }, (_, n) => `/${n}`))
    for (let n = 0; n < 50 && heard.text.split("HTTP/1.1 200").length < 1_001; n++) await still()
    expect(heard.text.split("HTTP/1.1 200").length).toBe(1_001)
    // The connection continues as before.
    ask(socket, 1)
    await begins(1_001)
  })

  it("have their bodies read when they begin", async () => {
    const { socket } = await opened()
    const body = "x".repeat(300_000)
    ask(socket, MAX_CONCURRENT + 4, body)
    const read: Array<number> = []
    for (let n = 0; n < MAX_CONCURRENT + 4; n++) {
      for (let turn = 0; turn < 100 && begun[n] === undefined; turn++) await still()
      const { response, source } = begun[n]!
      let bytes = 0
      for await (const chunk of source) bytes += (chunk as Buffer).length
      read.push(bytes)
      if (n >= MAX_CONCURRENT - 1)
        for (const one of begun)
          if (!one.response.writableEnded) one.response.end()
          else if (n === 0) response.setHeader("x-first", "yes")
    }
    expect(read).toEqual(Array.from({ length: MAX_CONCURRENT + 4 }, () => body.length))
  })

  it("are dropped after their caller has left", async () => {
    const { socket } = await opened()
    ask(socket, 100)
    await begins(MAX_CONCURRENT)
    socket.destroy()
    await begins(MAX_CONCURRENT)
  })

  it("are dropped with their connection when they are too many", async () => {
    const { socket } = await opened()
    const closed = new Promise((resolve) => socket.on("close", resolve))
    ask(socket, 20 * MAX_WAITING)
    await closed
    await begins(MAX_CONCURRENT)
    const { socket: next } = await opened()
    ask(next, MAX_WAITING)
    await begins(2 * MAX_CONCURRENT)
    expect(next.destroyed).toBe(false)
  })

  it("are dropped with their connection when their bodies are too large together", async () => {
    const size = 50_000
    const { socket: fits } = await opened()
    ask(fits, MAX_CONCURRENT + Math.floor(MAX_BYTES / (size + 100)), "x".repeat(size))
    await begins(MAX_CONCURRENT)
    const { socket } = await opened()
    const closed = new Promise((resolve) => socket.on("close", resolve))
    ask(socket, MAX_CONCURRENT + Math.ceil(MAX_BYTES / size), "x".repeat(size))
    await closed
    expect(fits.destroyed).toBe(false)
  })

  it("count until their connection is closed, even when none is answered", async () => {
    // The length of their bodies is unknown: each counts with the largest permitted body.
    const chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    const most = Math.floor(MAX_BYTES / (MAX_BODY_BYTES + 100))
    const fill = async () => {
      const { socket } = await opened()
      const closed = new Promise<string>((resolve) => socket.on("close", () => resolve("closed")))
      const before = begun.length
      ask(socket, MAX_CONCURRENT)
      socket.write(chunked.repeat(most))
      await begins(before + MAX_CONCURRENT)
      return { socket, closed }
    }
    const lines = Math.floor(MAX_BYTES_IN_ALL / (most * (MAX_BODY_BYTES + 100)))
    const first: Array<Awaited<ReturnType<typeof fill>>> = []
    for (let n = 0; n < lines; n++) first.push(await fill())
    expect(await (await fill()).closed).toBe("closed")
    for (const { closed, socket } of first) {
      expect(socket.destroyed).toBe(false)
      socket.destroy()
      await closed
    }
    await still()
    for (let n = 0; n < lines; n++) expect((await fill()).socket.destroyed).toBe(false)
  })

  it("are independent of another connection's requests", async () => {
    const [one, other] = [await opened(), await opened()]
    ask(one.socket, 100)
    await begins(MAX_CONCURRENT)
    ask(other.socket, 1)
    await begins(MAX_CONCURRENT + 1)
  })
})
