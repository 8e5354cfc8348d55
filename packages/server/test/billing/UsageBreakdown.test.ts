/** The breakdown of usage over its route: its scopes, its defaults, and pages with cursors of any length. */
import { expect, layer } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { TestServer, testServer } from "@sluice/testing/servers/TestServer"

const MISSING = "01890a5d-ac96-774b-bcce-b302099a8057"
/** The longest id of a model, in the longest UTF-8 letters. */
const MODELS = ["a", "b".repeat(256), "\u{1f600}".repeat(128), "ä/ö"]
const AT = ["2027-03-09T12:00:00Z", "2027-04-01T00:00:00Z", "2027-04-02T00:00:00Z", "2027-04-03T00:00:00Z"]

layer(testServer, { excludeTestServices: true, timeout: "5 minutes" })("the breakdown of usage", (it) => {
  it.effect("is by day as a default, from the first of the month of its last day", () =>
    Effect.gen(function* () {
      const { alice, ask } = yield* TestServer
      const sql = yield* PgClient.PgClient
      for (const [n, model] of MODELS.entries()) {
        yield* sql.unsafe(
          `insert into usage (id, workspace_id, environment_id, key_id, model, tokens_in, tokens_out, cost, at)
             values ($1, $2, $3, $3, $4, 1, 2, 3000, $5)`,
          [`01890a5d-ac96-774b-bcce-b302099a810${n}`, alice.workspaceId, MISSING, model, new Date(AT[n]!)]
        )
      }
      const groups = (query: string) =>
        Effect.map(ask(`/api/v1/billing/usage/breakdown?${query}`), ({ json }) =>
          json.data.map(({ group }: { readonly group: string }) => group)
        )
      expect(yield* groups("to=2027-04-02")).toEqual(["2027-04-02", "2027-04-01"])
      expect(yield* groups("to=2027-04-02&from=2027-03-01")).toEqual(["2027-04-02", "2027-04-01", "2027-03-09"])
      const found: Array<string> = []
      let cursor = ""
      do {
        const next = cursor === "" ? "" : `&cursor=${cursor}`
        const { json } = yield* ask(
          `/api/v1/billing/usage/breakdown?by=model&from=2027-03-01&to=2027-04-30&limit=1${next}`
        )
        found.push(json.data[0].group)
        cursor = json.meta.cursor
      } while (cursor !== "")
      expect(found.toSorted()).toEqual(MODELS.toSorted())
    })
  )

  it.effect("requires a billing key, and names keys", () =>
    Effect.gen(function* () {
      const { bob, ask } = yield* TestServer
      const sql = yield* PgClient.PgClient
      const made = (scope: string) =>
        Effect.map(
          ask("/api/v1/api-keys", { key: bob.key, body: { name: `my ${scope}`, scopes: [scope] } }),
          ({ json }): { readonly id: string; readonly key: string } => json.data
        )
      const [billing, inference] = [yield* made("billing:read"), yield* made("inference:read")]
      for (const [n, key] of [billing.id, MISSING].entries()) {
        yield* sql.unsafe(
          `insert into usage (id, workspace_id, environment_id, key_id, model, tokens_in, tokens_out, cost, at)
             values ($1, $2, $3, $4, 'm', 1, 2, 3000, $5)`,
          [`01890a5d-ac96-774b-bcce-b302099a811${n}`, bob.workspaceId, MISSING, key, new Date(AT[0]!)]
        )
      }
      const query = "/api/v1/billing/usage/breakdown?by=key&to=2027-03-31"
      const { json, status } = yield* ask(query, { key: billing.key })
      const names = json.data.map(({ group, name }: { readonly group: string; readonly name: unknown }) => [
        group,
        name
      ])
      expect([status, Object.fromEntries(names)]).toEqual([200, { [billing.id]: "my billing:read", [MISSING]: null }])
      const refused = yield* ask(query, { key: inference.key })
      expect([refused.status, refused.json.error.code]).toEqual([403, "forbidden"])
    })
  )

  it.effect("usage and its breakdown refuse days, groups and cursors that make no sense", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      for (const query of ["from=2026-02-30", "to=x", "from=2026-02-02&to=2026-02-01", "from=0000-01-01"]) {
        expect([query, (yield* ask(`/api/v1/billing/usage?${query}`)).status]).toEqual([query, 422])
        expect([query, (yield* ask(`/api/v1/billing/usage/breakdown?${query}`)).status]).toEqual([query, 422])
      }
      for (const query of ["by=hour", "cursor=", "cursor=AA", "cursor=*", "limit=0"]) {
        expect([query, (yield* ask(`/api/v1/billing/usage/breakdown?${query}`)).status]).toEqual([query, 422])
      }
    })
  )
})
