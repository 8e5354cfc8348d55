/** Environments over HTTP: the spellings of their ids and names. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer, testServer } from "@sluice/testing/servers/TestServer"

layer(testServer, { excludeTestServices: true, timeout: "5 minutes" })("environments", (it) => {
  it.effect("an environment is known by its id in capitals, and not by its name in capitals", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const [environment] = (yield* ask("/api/v1/environments")).json.data
      const upper = environment.id.toUpperCase()
      expect((yield* ask(`/api/v1/jobs?environment=${upper}`)).status).toBe(200)
      expect((yield* ask("/api/v1/jobs", { headers: { "x-environment": upper } })).status).toBe(200)
      expect((yield* ask(`/api/v1/jobs?environment=${environment.name.toUpperCase()}`)).status).toBe(404)
    })
  )
})
