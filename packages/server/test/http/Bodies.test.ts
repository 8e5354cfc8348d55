/** Bodies that no route reads: what is no JSON, no object, too large or encoded, on both surfaces. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer, testServer } from "@sluice/testing/servers/TestServer"

const PATHS = ["/api/v1/storage", "/api/v1/api-keys", "/api/v1/jobs", "/api/v1/jobs/quote"]

layer(testServer, { excludeTestServices: true, timeout: "5 minutes" })("bodies", (it) => {
  it.effect("a body that is no JSON object is a 422 with its issue, never a 500", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      for (const path of ["/api/v1/storage", "/api/v1/api-keys"]) {
        const { issues } = (yield* ask(path, { body: "[]" })).json.error.details
        expect([path, issues]).toEqual([path, [{ path: "", message: "must be a JSON object" }]])
      }
      for (const path of PATHS) {
        for (const body of [
          "",
          "{",
          "null",
          "[]",
          '"x"',
          "1",
          "{}x",
          "\u0000",
          '{"name":"\\u0000"}',
          '{"name":"\\ud800"}',
          '{"__proto__":1}'
        ]) {
          const answer = yield* ask(path, { method: "POST", headers: { "content-type": "application/json" }, body })
          expect([path, body, answer.status, answer.json.error.code]).toEqual([path, body, 422, "validation_error"])
          expect(answer.json.error.details.issues.length).toBeGreaterThan(0)
        }
      }
      const deep = yield* ask("/api/v1/jobs", { body: `${"[".repeat(400_000)}${"]".repeat(400_000)}` })
      expect(deep.status).toBe(422)
    })
  )

  it.effect("a body of another type is a 415, and one of more than a megabyte a 413", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      for (const path of PATHS) {
        const text = yield* ask(path, { body: "{}", headers: { "content-type": "text/plain" } })
        expect([path, text.status, text.json.error.code]).toEqual([path, 415, "unsupported_media_type"])
        const large = yield* ask(path, { body: { name: "x".repeat(1_100_000) } })
        expect([path, large.status, large.json.error.code]).toEqual([path, 413, "payload_too_large"])
      }
    })
  )

  it.effect("a body with a content coding is refused, and one with `identity` is read", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const body = JSON.stringify({ name: "x", region: "us-east", size_gb: 0 })
      for (const path of ["/api/v1/storage", "/api/v1/jobs", "/api/v1/jobs/quote"]) {
        const as = (headers: Record<string, string>) => ask(path, { body, headers })
        expect([path, (yield* as({ "content-encoding": "identity" })).status]).toEqual([path, 422])
        for (const headers of [{ "content-encoding": "gzip" }, { "content-type": "application/vnd.api+json" }]) {
          const told = yield* as(headers)
          expect([path, told.status, told.json.error.code]).toEqual([path, 415, "unsupported_media_type"])
        }
      }
      for (const path of ["/v1/chat/completions", "/v1/embeddings"]) {
        const told = yield* ask(path, { body: "{}", headers: { "content-encoding": "gzip" } })
        expect([path, told.status, told.json.error.code]).toEqual([path, 400, "invalid_encoding"])
      }
    })
  )
})
