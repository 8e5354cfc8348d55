/** Slow readers: a reader that stops loses its connection; one that reads slowly or has nothing to read keeps it. */
import { describe, expect, it } from "@effect/vitest"
import { dropSlowReader, splitIntoPieces, PIECE_BYTES } from "@sluice/server/http/SlowReader"
import { Duration, Effect, Fiber, Stream } from "effect"
import { createServer, get } from "node:http"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

const pace = { every: Duration.millis(20), patience: 3 }

/** A response on a real socket and its paused reader. */
const connection = Effect.acquireRelease(
  Effect.promise(
    () =>
      new Promise<{ response: ServerResponse; reader: IncomingMessage; close: () => void }>((resolve) => {
        const server = createServer((_, response) => {
          response.flushHeaders()
          served = response
        })
        let served: ServerResponse
        server.listen(0, "127.0.0.1", () => {
          const request = get({ port: (server.address() as AddressInfo).port, host: "127.0.0.1" }, (reader) => {
            reader.on("error", () => {})
            resolve({ response: served, reader, close: () => void (server.closeAllConnections(), server.close()) })
          })
          request.on("error", () => {})
        })
      })
  ),
  ({ close }) => Effect.sync(close)
)

/** Writes as the server does: the next piece after a drain. */
const writing = (response: ServerResponse, pieces: number) =>
  Effect.promise(async () => {
    const piece = Buffer.alloc(PIECE_BYTES)
    for (let i = 0; i < pieces && !response.destroyed; i++) {
      if (!response.write(piece)) {
        await new Promise<void>((resolve) => {
          const go = () => {
            response.off("drain", go).off("close", go)
            resolve()
          }
          response.on("drain", go).on("close", go)
        })
      }
    }
  })

describe("dropSlowReader", () => {
  it.live("closes a connection whose reader has stopped", () =>
    Effect.gen(function* () {
      const { response } = yield* connection
      yield* Effect.forkChild(writing(response, 1_000))
      yield* dropSlowReader(response, pace)
      expect(response.destroyed).toBe(true)
    })
  )

  it.live("keeps a connection that is idle or reads", () =>
    Effect.gen(function* () {
      const { response, reader } = yield* connection
      const watch = yield* Effect.forkChild(dropSlowReader(response, pace))
      yield* Effect.sleep("200 millis")
      expect(response.destroyed).toBe(false)
      let read = 0
      reader.on("data", (chunk: Buffer) => (read += chunk.length))
      yield* writing(response, 1_000)
      expect(read).toBeGreaterThan(PIECE_BYTES)
      expect(response.destroyed).toBe(false)
      yield* Fiber.interrupt(watch)
    })
  )

  it.effect("cuts bytes into pieces and loses none", () =>
    Effect.gen(function* () {
      const chunks = [0, 1, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES].map((size) => Buffer.alloc(size, size % 251))
      const pieces = yield* Stream.runCollect(splitIntoPieces(Stream.fromIterable(chunks)))
      expect(Math.max(...pieces.map((piece) => piece.length))).toBe(PIECE_BYTES)
      expect(Buffer.concat(pieces).equals(Buffer.concat(chunks))).toBe(true)
    })
  )
})
