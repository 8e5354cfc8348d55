/** Rules shared by all lists of the infrastructure surface: queries and pages (decisions: Lists). */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Told } from "@sluice/testing/servers/TestServer"
import { TestServer, testServer } from "@sluice/testing/servers/TestServer"

/** The fields that an answer of 422 names. */
const pathsOf = (told: { readonly json: Told["json"] }) =>
  told.json.error.details.issues.map((issue: { path: string }) => issue.path)

layer(testServer, { excludeTestServices: true, timeout: "5 minutes" })("lists", (it) => {
  it.effect("a list refuses a bad query with all issues at once", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const bad: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
        ["limit=0", ["limit"]],
        ["limit=101", ["limit"]],
        ["limit=1.5", ["limit"]],
        ["limit=abc", ["limit"]],
        ["limit=", ["limit"]],
        ["limit=1&limit=2", ["limit"]],
        ["cursor=", ["cursor"]],
        ["cursor=xyz", ["cursor"]],
        ["cursor=JyBvciAxPTEgLS0", ["cursor"]],
        ["what=1", ["what"]],
        ["limit=0&what=1&cursor=x", ["cursor", "limit", "what"]]
      ]
      for (const [query, paths] of bad) {
        const told = yield* ask(`/api/v1/api-keys?${query}`)
        expect([query, told.status, told.json.error.code]).toEqual([query, 422, "validation_error"])
        expect([query, pathsOf(told).sort()]).toEqual([query, paths])
        expect(told.json.error.message).not.toContain("representing")
      }
    })
  )

  it.effect("a short list refuses a query parameter that it does not know", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      for (const path of ["/templates", "/storage/regions", "/instances/types", "/billing/balance", "/environments"]) {
        expect([path, (yield* ask(`/api/v1${path}?what=1`)).status]).toEqual([path, 422])
      }
    })
  )

  it.effect("a short list comes whole, or in pages that make up the whole", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      for (const path of ["/templates", "/storage/regions", "/instances/types"]) {
        const { data: all, meta } = (yield* ask(`/api/v1${path}`)).json
        expect([path, meta.total, meta.hasMore, meta.cursor]).toEqual([path, all.length, false, ""])
        const paged: Array<unknown> = []
        let cursor = ""
        do {
          const told = yield* ask(`/api/v1${path}?limit=1${cursor === "" ? "" : `&cursor=${cursor}`}`)
          expect([path, told.status, told.json.data.length, told.json.meta.total]).toEqual([path, 200, 1, all.length])
          paged.push(...told.json.data)
          cursor = told.json.meta.cursor
          expect(told.json.meta.hasMore).toBe(cursor !== "")
        } while (cursor !== "")
        expect(paged).toEqual(all)
        for (const query of ["limit=0", "limit=101", "cursor=x", "cursor=MA", "what=1"]) {
          expect([path, query, (yield* ask(`/api/v1${path}?${query}`)).status]).toEqual([path, query, 422])
        }
      }
    })
  )
})
