/** The archive from which new databases start: built once, ignored when damaged or of another schema, and optional. */
import { assert, beforeEach, afterEach, describe, it } from "vitest"
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { archiveOf } from "../../src/database/Archive.ts"
import { schemaImage } from "../../src/database/Schema.ts"

let directory = ""
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "sluice-archive-"))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const CONTENT = Buffer.from("the files of a database ".repeat(1_000))
let made = 0
const ask = (name = "schema", where = directory) =>
  archiveOf(
    name,
    async () => {
      made++
      return CONTENT
    },
    where
  )
const file = () => join(directory, readdirSync(directory)[0]!)

describe("The archive", () => {
  beforeEach(() => {
    made = 0
  })

  it("is built once and then read", async () => {
    assert.deepEqual(await ask(), CONTENT)
    assert.deepEqual(await ask(), CONTENT)
    assert.strictEqual(made, 1)
  })

  it("of another schema has another name", async () => {
    await ask("schema")
    await ask("a later schema")
    assert.strictEqual(made, 2)
  })

  it.each([
    ["cut short", () => truncateSync(file(), 1_000)],
    ["emptied", () => truncateSync(file(), 0)],
    [
      "changed in one bit",
      () => {
        const bytes = readFileSync(file())
        bytes[5_000]! ^= 1
        writeFileSync(file(), bytes)
      }
    ]
  ])("is replaced when it was %s", async (_how, spoil) => {
    await ask()
    spoil()
    assert.deepEqual(await ask(), CONTENT)
    assert.deepEqual(await ask(), CONTENT)
    assert.strictEqual(made, 2)
  })

  it("is whole when several processes build it at once", async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => ask()))
    for (const one of all) assert.deepEqual(one, CONTENT)
    assert.deepEqual(await ask(), CONTENT)
    assert.strictEqual(made, 8)
    assert.strictEqual(readdirSync(directory).length, 1)
  })

  it("is optional: a database starts where the archive can't be written", async () => {
    // Not a directory: even root can't write into it.
    const place = join(directory, "file")
    writeFileSync(place, "")
    chmodSync(place, 0o444)
    assert.deepEqual(await ask("schema", join(place, "cache")), CONTENT)
    assert.deepEqual(await ask("schema", join(place, "cache")), CONTENT)
    assert.strictEqual(made, 2)
  })

  it("evicts the oldest archives and keeps a few", async () => {
    for (let n = 0; n < 6; n++) {
      await ask(`schema ${n}`)
      const path = join(
        directory,
        readdirSync(directory).find((name) => name.includes(`schema ${n}`))!
      )
      utimesSync(path, 1_000 + n, 1_000 + n)
    }
    const kept = readdirSync(directory)
    assert.strictEqual(kept.length, 4)
    assert.isTrue(kept.some((name) => name.includes("schema 5")))
    assert.isFalse(kept.some((name) => name.includes("schema 0")))
  })
})

describe("The name of a schema", () => {
  const nameOf = (source: string) => schemaImage([{ migrate: undefined as never, source }], async () => {}).name

  it("depends only on the contents of its migration files", () => {
    const source = join(directory, "Tables.ts")
    writeFileSync(source, "create table a")
    const before = nameOf(source)
    assert.strictEqual(nameOf(source), before)
    writeFileSync(source, "create table b")
    assert.notStrictEqual(nameOf(source), before)
    assert.notStrictEqual(schemaImage([], async () => {}).name, before)
  })
})
