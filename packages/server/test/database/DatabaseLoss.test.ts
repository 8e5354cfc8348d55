/** An embedded database that is lost: it reports the loss, fails statements at once, and writes nothing more to its directory. */
import { expect, it } from "@effect/vitest"
import { isUnavailable } from "@sluice/domain/database/StoreFailure"
import { Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openEmbedded } from "../../src/database/Database.ts"
import { DatabaseLoss } from "../../src/database/DatabaseLoss.ts"

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "sluice-loss-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** Every file below the directory, with its modification time and size. */
const filesOf = (path: string): ReadonlyArray<string> =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const file = join(entry.parentPath, entry.name)
      const { mtimeMs, size } = statSync(file)
      return `${file} ${size} ${mtimeMs}`
    })
    .sort()

it.live("a backend that dies fails its running statements and all later ones", () =>
  Effect.gen(function* () {
    const path = yield* directory
    yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      // A log that can't be written, as on a full disk.
      rmSync(join(path, "pg", "pg_wal"), { recursive: true })
      const write = Effect.andThen(
        sql`select pg_switch_wal()::text`,
        sql`insert into master_keys values (gen_random_uuid()::text, now())`
      )
      expect(isUnavailable(yield* Effect.flip(Effect.forever(write)))).toBe(true)
      expect(isUnavailable(yield* Effect.flip(sql`select 1`))).toBe(true)
      expect(isUnavailable(yield* Effect.flip(sql.withTransaction(sql`select 1`)))).toBe(true)
      expect((yield* Effect.flip(yield* DatabaseLoss)).message).toMatch(/lost to this process: PANIC: .*pg_wal/)
    }).pipe(Effect.provide(Layer.fresh(openEmbedded(path))))
  }).pipe(Effect.timeout("5 minutes"))
)

it.live(
  "a directory that another process took over is not written to any more",
  () =>
    Effect.gen(function* () {
      const path = yield* directory
      const lock = join(path, "sluice.lock")
      const before = yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`insert into master_keys (id, since) values ('kept', ${new Date(0)})`
        writeFileSync(lock, "another's")
        const lost = yield* Effect.forkChild(Effect.flip(yield* DatabaseLoss))
        yield* Effect.sleep("6 seconds")
        const files = filesOf(join(path, "pg"))
        expect(isUnavailable(yield* Effect.flip(sql`delete from master_keys`))).toBe(true)
        expect((yield* Fiber.join(lost)).reason).toContain("another process took over")
        return files
      }).pipe(Effect.provide(Layer.fresh(openEmbedded(path))))
      expect(filesOf(join(path, "pg"))).toEqual(before)
      expect(readFileSync(lock, "utf8")).toBe("another's")
    }),
  300_000
)

it.live("a directory whose lock can't be written is refused with the reason", () =>
  Effect.gen(function* () {
    const path = yield* directory
    mkdirSync(join(path, "sluice.lock"))
    const error = yield* Effect.flip(Effect.provide(Effect.void, Layer.fresh(openEmbedded(path))))
    expect(error._tag).toBe("DataDirectoryUnusable")
    expect(error.message).toContain("EISDIR")
  })
)
