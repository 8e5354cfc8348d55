/** Volumes over HTTP: what a body may say, names, sizes, pages. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Told } from "@sluice/testing/servers/TestServer"
import { TestServer, testServer } from "@sluice/testing/servers/TestServer"

/** The fields that an answer of 422 names. */
const pathsOf = (told: { readonly json: Told["json"] }) =>
  told.json.error.details.issues.map((issue: { path: string }) => issue.path)

layer(testServer, { excludeTestServices: true, timeout: "5 minutes" })("volumes", (it) => {
  it.effect(
    "the list of volumes is newest first, and its pages skip and repeat no volume while others are created",
    () =>
      Effect.gen(function* () {
        const { ask } = yield* TestServer
        const make = (name: string) => ask("/api/v1/storage", { body: { name, region: "us-east", size_gb: 1 } })
        for (let i = 0; i < 5; i++) expect((yield* make(`page-${i}`)).status).toBe(201)
        const names: Array<string> = []
        let cursor = ""
        for (let page = 0; ; page++) {
          const told = yield* ask(`/api/v1/storage?limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`)
          expect(told.status).toBe(200)
          expect(told.json.meta.requestId).toBe(told.headers.get("x-request-id"))
          expect(told.json.meta.total).toBe(5 + page)
          names.push(...told.json.data.map((volume: { name: string }) => volume.name))
          cursor = told.json.meta.cursor
          if (!told.json.meta.hasMore) break
          yield* make(`late-${page}`)
        }
        expect(cursor).toBe("")
        expect(names).toEqual(["page-4", "page-3", "page-2", "page-1", "page-0"])
      })
  )

  it.effect("a volume has a unique name in its region, and a second one is a conflict that no retry ends", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const body = { name: "vol", region: "eu-north", size_gb: 5 }
      const made = yield* ask("/api/v1/storage", { body })
      expect(made.json.data).toMatchObject({ ...body, used_bytes: 0, attached_to: null })
      const again = yield* ask("/api/v1/storage", { body })
      expect([again.status, again.headers.get("x-should-retry")]).toEqual([409, "false"])
    })
  )

  it.effect("a volume grows, never shrinks, and is gone after its deletion", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const made = yield* ask("/api/v1/storage", { body: { name: "grown", region: "eu-north", size_gb: 5 } })
      const path = `/api/v1/storage/${made.json.data.id}`
      expect((yield* ask(path, { method: "PATCH", body: { size_gb: 4 } })).status).toBe(422)
      expect((yield* ask(path, { method: "PATCH", body: { size_gb: 6 } })).json.data.size_gb).toBe(6)
      expect((yield* ask(path, { method: "DELETE" })).status).toBe(204)
      expect((yield* ask(path)).status).toBe(404)
    })
  )

  it.effect("the id of a volume means the same volume in capitals", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const made = (yield* ask("/api/v1/storage", { body: { name: "kept", region: "us-east", size_gb: 1 } })).json.data
      const path = `/api/v1/storage/${made.id.toUpperCase()}`
      expect((yield* ask(path, { method: "PATCH", body: { size_gb: 2 } })).json.data.size_gb).toBe(2)
      expect((yield* ask(path, { method: "PATCH", body: { size_gb: 1 } })).status).toBe(422)
    })
  )

  it.effect("the body of a volume is refused with all its issues at once, those of its region included", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const told = yield* ask("/api/v1/storage", { body: { name: "", size_gb: 1.5, colour: "red" } })
      expect([told.status, pathsOf(told).sort()]).toEqual([422, ["colour", "name", "region", "size_gb"]])
      const nowhere = yield* ask("/api/v1/storage", { body: { name: "v", region: "r", size_gb: "1" } })
      expect(nowhere.json.error.details.issues).toEqual([
        { path: "size_gb", message: "must be an integer from 1 to 10000" },
        { path: "region", message: "must be one of eu-north, us-east" }
      ])
      const moon = yield* ask("/api/v1/storage", { body: { name: "nowhere", region: "moon", size_gb: 5 } })
      expect([moon.status, pathsOf(moon)]).toEqual([422, ["region"]])
    })
  )
})
