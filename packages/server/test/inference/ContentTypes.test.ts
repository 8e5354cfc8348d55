/** Bodies of the inference surface by their content type: a page of another site can send text and forms without asking. */
import { expect, layer } from "@effect/vitest"
import { TestServer, testServer } from "@sluice/testing/servers/TestServer"
import { Effect } from "effect"

const JSON_PATHS = ["chat/completions", "responses", "embeddings", "images/generations", "audio/speech", "videos"]
const FORM = "multipart/form-data; boundary=x"

layer(testServer, { excludeTestServices: true, timeout: "5 minutes" })("content types of /v1", (it) => {
  /** `?` takes a hot route's request to the router. Bytes have no type of their own. */
  const ask = (path: string, type: string | undefined, body = "{}") =>
    Effect.flatMap(TestServer, ({ alice, origin }) =>
      Effect.promise(async () => {
        const response = await fetch(`${origin}/v1/${path}`, {
          method: "POST",
          headers: {
            authorization: `Bearer ${alice.key}`,
            ...(type === undefined ? {} : { "content-type": type })
          },
          body: new TextEncoder().encode(body)
        })
        const { error } = (await response.json()) as { error: { code: string | null; type: string } }
        return [response.status, error.type, error.code]
      })
    )

  it.effect("JSON in name, or no name at all, is taken", () =>
    Effect.gen(function* () {
      const types = [
        undefined,
        "application/json",
        "Application/JSON; charset=utf-8",
        "application/json ;x=y",
        "application/vnd.api+json"
      ]
      for (const path of [...JSON_PATHS, "chat/completions?", "responses?"]) {
        for (const type of types) {
          // The body is read, and has no model.
          expect([path, type, yield* ask(path, type)]).toEqual([path, type, [400, "invalid_request_error", null]])
        }
      }
    })
  )

  it.effect("any other type is refused before the body is looked at", () =>
    Effect.gen(function* () {
      const types = [
        "text/plain;charset=UTF-8",
        "application/x-www-form-urlencoded",
        "text/json",
        "application/jsonp",
        "application/json, text/plain",
        "json"
      ]
      for (const path of [...JSON_PATHS, "chat/completions?", "responses?"]) {
        for (const type of path === "videos" ? types : [...types, FORM]) {
          const told = yield* ask(path, type, "no JSON")
          expect([path, type, told]).toEqual([path, type, [400, "invalid_request_error", "unsupported_content_type"]])
        }
      }
    })
  )

  it.effect("an endpoint that takes a form alone refuses JSON and text by the same code", () =>
    Effect.gen(function* () {
      for (const type of [undefined, "application/json", "text/plain"]) {
        const told = yield* ask("audio/transcriptions", type)
        expect([type, told]).toEqual([type, [400, "invalid_request_error", "unsupported_content_type"]])
      }
    })
  )
})
