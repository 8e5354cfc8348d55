/** `GET /jobs`: the queries that it refuses. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer, testServer } from "@sluice/testing/servers/TestServer"

layer(testServer, { excludeTestServices: true, timeout: "5 minutes" })("the list of jobs", (it) => {
  it.effect("the list of jobs refuses a filter that makes no sense", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      for (const query of [
        "status=done",
        "label=novalue",
        "created_after=yesterday",
        "created_after=2026-02-30T00:00:00Z",
        "created_after=2026-02-20T24:00:00Z",
        "created_before=2026-01-01",
        "name=a%00b",
        "what=1"
      ]) {
        expect([query, (yield* ask(`/api/v1/jobs?${query}`)).status]).toEqual([query, 422])
      }
    })
  )
})
