/** A database that is reachable and refuses: startup and administration report its message, for any statement. */
import { expect, it } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { createWorkspace } from "@sluice/server/Admin"
import { parse } from "@sluice/server/Config"
import { postgres } from "@sluice/server/database/Database"
import { DatabaseRefused } from "@sluice/server/database/DatabaseErrors"
import { failWithRefusal } from "@sluice/server/database/DatabaseRefusal"
import { serve } from "@sluice/server/Serve"
import { Effect, Redacted, Result } from "effect"
import { describeOnPostgres, freshDatabase } from "@sluice/testing/engines/Postgres"

const READ_ONLY =
  /^The database refused an operation: cannot execute \w+ in a read-only transaction \(25006\)\. Check its disk space and/

describeOnPostgres("A database that may only be read", () => {
  it.live("a refusal of the database is reported by a starting server and by the administration", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      const databaseUrl = Redacted.make(url)
      yield* Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        yield* sql.unsafe(`alter database ${new URL(url).pathname.slice(1)} set default_transaction_read_only = on`)
      }).pipe(Effect.provide(postgres({ url: databaseUrl })))

      const key = "svc_live_readonly00000000000000000000000000"
      const config = Result.getOrThrow(
        parse({
          port: "0",
          "database-url": url,
          "bootstrap-key": key,
          "master-key": Buffer.alloc(32, 7).toString("base64")
        })
      )
      const started = yield* Effect.flip(serve(config, () => Effect.void))
      expect(started.message).toMatch(READ_ONLY)
      const made = yield* Effect.flip(createWorkspace({ data: "unused", databaseUrl }, "acme"))
      expect(made.message).toMatch(READ_ONLY)
    })
  )
})

it.effect("another failure and another defect stay unchanged", () =>
  Effect.gen(function* () {
    expect(yield* Effect.flip(failWithRefusal(Effect.fail("mine")))).toBe("mine")
    const defect = yield* Effect.catchDefect(failWithRefusal(Effect.die("broken")), (told) => Effect.succeed(told))
    expect(defect).toBe("broken")
    expect(defect).not.toBeInstanceOf(DatabaseRefused)
  })
)
