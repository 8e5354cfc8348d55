/** Files of forms that are begun and left there give way to what the same key sends, and leave nothing on the disk's account. */
import { expect, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { FileRoom } from "../../src/http/BodyRoom.ts"
import { rawRequest } from "./support/RawHttp.ts"
import { TestServer, testServerOf } from "./support/TestServer.ts"

const FORM_BYTES = 1_000_000
const BOUNDARY = "a-line-between-parts"
const BEGUN = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\nRIFF`

/** One key has room for two. */
layer(testServerOf({ fileRoomBytes: 2 * 2.5 * FORM_BYTES }), { excludeTestServices: true, timeout: "60 seconds" })(
  "a disk without room for more files",
  (it) => {
    it.effect("lets the oldest go with a 503, and has all its room again when they have gone", () =>
      Effect.gen(function* () {
        const { alice, bob, port } = yield* TestServer
        const room = yield* FileRoom
        const begun = (key: string) =>
          Effect.forkChild(
            rawRequest(
              port,
              [
                "POST /v1/audio/transcriptions HTTP/1.1",
                "Host: localhost",
                `Authorization: Bearer ${key}`,
                `Content-Type: multipart/form-data; boundary=${BOUNDARY}`,
                `Content-Length: ${FORM_BYTES}`
              ],
              BEGUN
            ),
            { startImmediately: true }
          )
        const his = yield* begun(bob.key)
        const hers = yield* Effect.forEach([1, 2, 3], () => Effect.tap(begun(alice.key), Effect.sleep("150 millis")))
        const { body, head, status } = yield* Fiber.join(hers[0]!)
        expect([status, head.toLowerCase().includes("retry-after")]).toEqual([503, true])
        expect(JSON.parse(body).error).toMatchObject({ type: "overloaded_error", code: "server_busy" })
        expect([his, ...hers.slice(1)].map((fiber) => fiber.pollUnsafe())).toEqual([undefined, undefined, undefined])
        expect(room.size).toEqual({ owners: 2, bytes: 3 * FORM_BYTES })

        yield* Effect.forEach([his, ...hers], Fiber.interrupt)
        while (room.size.bytes > 0) yield* Effect.sleep("20 millis")
        expect(room.size).toEqual({ owners: 0, bytes: 0 })
      })
    )
  }
)
