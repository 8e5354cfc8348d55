/** Uploaded files on a full disk: abandoned uploads are evicted, and neither they or a failing disk leave bytes on the account. */
import { expect, layer } from "@effect/vitest"
import { Effect, Fiber, Layer, Logger } from "effect"
import { afterEach, vi } from "vitest"
import { FileSpaceBudget } from "../../src/http/BodyMemoryBudget.ts"
import { rawRequest } from "@sluice/testing/servers/RawHttp"
import { TestServer, testServerOf } from "@sluice/testing/servers/TestServer"

const HALF = 500_000
const BOUNDARY = "a-line-between-parts"
const BEGUN = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n${"x".repeat(HALF)}`

const lines: Array<string> = []
const recording = Logger.layer([Logger.make(({ logLevel, message }) => void lines.push(`${logLevel}: ${message}`))])

/** One key has room for two files. */
const crowded = testServerOf({ fileSpaceBytes: 2 * 2.5 * HALF }).pipe(Layer.provideMerge(recording))
layer(crowded, { excludeTestServices: true, timeout: "5 minutes" })("a disk without room for more files", (it) => {
  it.effect("evicts the oldest upload with a 503, and frees all its room afterwards", () =>
    Effect.gen(function* () {
      const { alice, bob, port } = yield* TestServer
      const budget = yield* FileSpaceBudget
      const beginUpload = (key: string, body = BEGUN) =>
        Effect.forkChild(
          rawRequest(
            port,
            [
              "POST /v1/audio/transcriptions HTTP/1.1",
              "Host: localhost",
              `Authorization: Bearer ${key}`,
              `Content-Type: multipart/form-data; boundary=${BOUNDARY}`,
              `Content-Length: ${2 * HALF}`
            ],
            body
          ),
          { startImmediately: true }
        )
      const bobsUpload = yield* beginUpload(bob.key)
      const alicesUploads = yield* Effect.forEach([1, 2, 3], () =>
        Effect.tap(beginUpload(alice.key), Effect.sleep("150 millis"))
      )
      const { body, head, status } = yield* Fiber.join(alicesUploads[0]!)
      expect([status, head.toLowerCase().includes("retry-after")]).toEqual([503, true])
      expect(JSON.parse(body).error).toMatchObject({ type: "overloaded_error", code: "server_busy" })
      expect([bobsUpload, ...alicesUploads.slice(1)].map((fiber) => fiber.pollUnsafe())).toEqual([
        undefined,
        undefined,
        undefined
      ])
      expect(budget.size).toEqual({ owners: 2, bytes: 3 * BEGUN.length })
      // An upload takes no room before its first byte, whatever its Content-Length.
      const empty = yield* Effect.forEach([1, 2, 3, 4], () => beginUpload(alice.key, ""))
      yield* Effect.sleep("150 millis")
      expect(budget.size).toEqual({ owners: 2, bytes: 3 * BEGUN.length })

      yield* Effect.forEach([bobsUpload, ...alicesUploads, ...empty], Fiber.interrupt)
      while (budget.size.bytes > 0) yield* Effect.sleep("20 millis")
      expect(budget.size).toEqual({ owners: 0, bytes: 0 })
    })
  )

  afterEach(() => void vi.unstubAllEnvs())

  it.effect("a disk failure is no fault of the caller, and a form in pieces is", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const send = (body: string) =>
        Effect.map(
          ask("/v1/audio/transcriptions", {
            headers: { "content-type": `multipart/form-data; boundary=${BOUNDARY}` },
            body
          }),
          ({ json, status }) => [status, json.error.code]
        )
      const whole = `${BEGUN}\r\n--${BOUNDARY}--\r\n`
      // No file can be created below a file or in a missing directory.
      for (const place of ["/dev/null", "/there/is/none"]) {
        vi.stubEnv("TMPDIR", place)
        expect(yield* send(whole)).toEqual([503, "server_busy"])
      }
      // Logged once for all uploads within a minute.
      expect(lines).toEqual([expect.stringMatching(/^Error: .* stored in \/dev\/null \(ENOTDIR\)/)])
      vi.unstubAllEnvs()
      for (const broken of [BEGUN, BEGUN.slice(0, 60), whole.replaceAll(BOUNDARY, "another-line")]) {
        expect(yield* send(broken)).toEqual([400, "invalid_form"])
      }
    })
  )
})
