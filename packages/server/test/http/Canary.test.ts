/** Canary values of keys and `env`: absent from the database, the log, errors and lists. */
import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Logger, References } from "effect"
import { SqlClient } from "effect/sql"
import { TestServer, testServer } from "@sluice/testing/servers/TestServer"

const lines: Array<string> = []
const recording = Layer.mergeAll(
  Logger.layer([Logger.map(Logger.formatJson, (line) => void lines.push(line))]),
  Layer.succeed(References.MinimumLogLevel, "All")
)

/** The row's `bytea` values as text. */
const bytesIn = (row: string) =>
  [...row.matchAll(/x([0-9a-f]{2,})/g)].map((match) => Buffer.from(match[1]!, "hex").toString("latin1")).join(" ")

layer(testServer.pipe(Layer.provideMerge(recording)), { excludeTestServices: true, timeout: "5 minutes" })(
  "canaries",
  (it) => {
    it.effect("leaves no trace of a secret", () =>
      Effect.gen(function* () {
        const { ask, alice } = yield* TestServer
        const sql = yield* SqlClient.SqlClient
        const answers: Array<string> = []
        const keep = (path: string, options?: Parameters<typeof ask>[1]) =>
          Effect.tap(ask(path, options), (told) =>
            Effect.sync(() => answers.push(told.text, JSON.stringify([...told.headers])))
          )

        const CANARY = "canary-5f0b7a2e91"
        const made = (yield* ask("/api/v1/api-keys", { body: { name: "k" }, headers: { "idempotency-key": "k" } })).json
          .data.key
        const job = { command: "true", gpu_type: "H100", max_runtime_minutes: 1, env: { TOKEN: CANARY } }
        const id = (yield* keep("/api/v1/jobs", { key: made, body: job, headers: { "idempotency-key": "j" } })).json
          .data.id
        yield* keep(`/api/v1/jobs/${id}/logs`, { key: made })
        for (const path of [
          "/jobs",
          "/api-keys",
          "/instances",
          "/environments",
          "/billing/transactions",
          `/jobs/${id}`
        ]) {
          yield* keep(`/api/v1${path}`, { key: made })
        }
        yield* keep("/api/v1/jobs", { key: made, body: { ...job, env: { "BAD NAME": CANARY, OK: 1 } } })
        yield* keep("/api/v1/jobs", { key: `${made}x` })
        yield* keep(`/api/v1/nothing?x=1`, { key: made })
        // A defect, provoked by a dropped table.
        yield* sql`alter table volumes rename to volumes_gone`
        const broken = yield* keep("/api/v1/storage", { key: made })
        yield* sql`alter table volumes_gone rename to volumes`
        expect([broken.status, broken.json.error.code]).toEqual([500, "internal_error"])
        expect(broken.text).not.toContain("volumes")
        expect(
          lines.some((line) => line.includes(broken.json.error.details.request_id) && line.includes("volumes"))
        ).toBe(true)

        // Proof that the search finds a text in a bytea.
        yield* sql`insert into idempotency_keys (workspace_id, key, request_hash, attempt_id, locked_until, created_at, response)
        values (${alice.workspaceId}, 'seen', '', ${alice.workspaceId}, now(), now(), convert_to('visible-canary', 'UTF8'))`
        const tables = yield* sql<{
          name: string
        }>`select quote_ident(tablename) as name from pg_tables where schemaname = 'public'`
        const dump: Array<string> = []
        for (const { name } of tables) {
          const rows = yield* sql.unsafe<{ row: string }>(`select t::text as row from ${name} t`)
          dump.push(...rows.map(({ row }) => row + bytesIn(row)))
        }
        expect(dump.length).toBeGreaterThan(10)
        expect(dump.some((row) => row.includes("visible-canary"))).toBe(true)
        for (const secret of [CANARY, made, alice.key]) {
          for (const text of [...dump, ...lines, ...answers]) expect(text).not.toContain(secret)
        }
      })
    )
  }
)
