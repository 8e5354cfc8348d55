/** Half-sent bodies in a full memory budget: newer bodies of the same key evict them, on both surfaces, with a request to retry. */
import { expect, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { rawConnection, rawRequest } from "@sluice/testing/servers/RawHttp"
import { TestServer, testServerOf } from "@sluice/testing/servers/TestServer"

const HALF = 60_000

layer(testServerOf({ bodyMemoryBytes: 2 * (2 * HALF + 10_000) }), { excludeTestServices: true, timeout: "5 minutes" })(
  "a server without room for more halves of bodies",
  (it) => {
    it.effect("evicts the oldest body with a 503 and answers the others", () =>
      Effect.gen(function* () {
        const { alice, ask, bob, port } = yield* TestServer
        const half = (path: string, key = alice.key) =>
          Effect.forkChild(
            rawRequest(
              port,
              [
                `POST ${path} HTTP/1.1`,
                "Host: localhost",
                `Authorization: Bearer ${key}`,
                "Content-Type: application/json",
                `Content-Length: ${2 * HALF}`
              ],
              `{"name":"${"x".repeat(HALF)}`
            ),
            { startImmediately: true }
          )
        const settled = Effect.sleep("100 millis")
        const his = yield* half("/v1/chat/completions", bob.key)
        yield* settled
        const halves: Array<Fiber.Fiber<{ readonly status: number; readonly head: string; readonly body: string }>> = []
        for (const path of [
          "/v1/chat/completions",
          "/v1/embeddings",
          "/api/v1/jobs",
          "/api/v1/storage",
          "/v1/responses"
        ]) {
          halves.push(yield* half(path))
          yield* settled
        }
        const [chat, embedding, job] = yield* Effect.forEach(halves.slice(0, 3), Fiber.join)
        for (const { body, head, status } of [chat!, embedding!, job!]) {
          expect([status, head.toLowerCase().includes("retry-after: 5")]).toEqual([503, true])
          expect(JSON.parse(body).error.message).toContain("Send it again")
        }
        expect(JSON.parse(chat!.body).error).toMatchObject({ type: "overloaded_error", code: "server_busy" })
        expect(JSON.parse(job!.body).error.code).toBe("service_unavailable")
        // Requests without a key take no budget; a body that arrives whole needs none.
        const strangers = yield* Effect.all(
          Array.from({ length: 4 }, () => half("/v1/chat/completions", "svc_live_nobody"))
        )
        expect((yield* Fiber.join(strangers[0]!)).status).toBe(401)
        const whole = yield* ask("/v1/embeddings", { body: { model: "sluice-embed", input: "word ".repeat(1_000) } })
        expect([200, 404]).toContain(whole.status)
        // Older bodies of other callers are not in the way.
        const waiting = [his, ...halves.slice(3)]
        expect(waiting.map((fiber) => fiber.pollUnsafe())).toEqual([undefined, undefined, undefined])
        yield* Effect.forEach([...waiting, ...strangers], Fiber.interrupt)
      })
    )

    it.effect("reads the rest of an evicted body and keeps its connection", () =>
      Effect.gen(function* () {
        const { alice, port } = yield* TestServer
        const head = `Host: localhost\r\nAuthorization: Bearer ${alice.key}\r\n`
        const half = Effect.gen(function* () {
          const one = yield* rawConnection(port)
          one.write(`POST /api/v1/jobs HTTP/1.1\r\n${head}Content-Length: ${2 * HALF}\r\n\r\n${"x".repeat(HALF)}`)
          yield* Effect.sleep("100 millis")
          return one
        })
        const [first] = yield* Effect.all([half, half, half])
        expect(yield* first.heard(/Send it again/)).toMatch(/^HTTP\/1\.1 503 /)
        first.write(`${"x".repeat(HALF)}GET /api/v1/jobs HTTP/1.1\r\n${head}\r\n`)
        expect(yield* first.heard(/HTTP\/1\.1 200/)).toMatch(/HTTP\/1\.1 200 /)
      }).pipe(Effect.scoped)
    )
  }
)
