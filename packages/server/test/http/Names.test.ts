/** Names of things: one rule, whatever the thing (the rule itself: packages/domain/test/requests/Name.test.ts). */
import { expect, layer } from "@effect/vitest"
import { TestServer, testServer } from "@sluice/testing/servers/TestServer"
import { Effect } from "effect"

layer(testServer, { excludeTestServices: true, timeout: "5 minutes" })("names", (it) => {
  it.effect("a job, a volume and a key refuse a name that shows another text, or none", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const key = (yield* ask("/api/v1/api-keys", { body: { name: "plain" } })).json.data
      const job = { command: "true", gpu_type: "H100", max_runtime_minutes: 5 }
      for (const [method, path, rest] of [
        ["POST", "/api/v1/jobs", job],
        ["POST", "/api/v1/jobs/quote", job],
        ["POST", "/api/v1/storage", { region: "eu-north", size_gb: 1 }],
        ["POST", "/api/v1/api-keys", {}],
        ["PATCH", `/api/v1/api-keys/${key.id}`, {}]
      ] as const) {
        for (const name of [
          "evil\u202egnp.exe",
          "a\u2066b",
          "a\u200eb",
          "a\u061cb",
          "a\nb",
          "a\u001bb",
          "  ",
          "\u200b"
        ]) {
          const told = yield* ask(path, { method, body: { ...rest, name } })
          expect([path, name, told.status, told.json.error?.details.issues[0].path]).toEqual([path, name, 422, "name"])
        }
        const named = yield* ask(path, { method, body: { ...rest, name: "été 東京 👩‍🚀" } })
        expect([path, named.status < 300]).toEqual([path, true])
      }
    })
  )
})
