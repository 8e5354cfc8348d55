/** Sealing of secrets: only an intact sealed value opens; keys come from the variable or the file, and must match the database. */
import { describe, expect, it } from "@effect/vitest"
import { Seal } from "@sluice/domain/database/Seal"
import { Cause, Effect, Exit, Layer, Redacted, Schema } from "effect"
import { randomBytes } from "node:crypto"
import fs, { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { masterKey, MasterKeys } from "../../src/database/MasterKey.ts"
import { nodeSeal } from "../../src/database/NodeSeal.ts"
import { onEveryDatabase } from "@sluice/testing/engines/Databases"

const text = () => randomBytes(32).toString("base64")
const keyOf = (base64: string) => masterKey(Buffer.from(base64, "base64"), base64)!
const [older, newer, foreign] = [text(), text(), text()]
const sealWith = (newest: string, ...rest: Array<string>) =>
  Layer.provide(nodeSeal, Layer.succeed(MasterKeys, [keyOf(newest), ...rest.map(keyOf)]))
const run = <A, E>(effect: Effect.Effect<A, E, Seal>, layer: Layer.Layer<Seal>) =>
  Effect.runSync(Effect.exit(Effect.provide(effect, layer)))
const seal = (value: string, aad: string) => Effect.map(Seal, (seal) => seal.seal(Redacted.make(value), aad))
const open = (sealed: Uint8Array, aad: string) =>
  Effect.flatMap(Seal, (seal) => seal.open(sealed, aad)).pipe(Effect.map(Redacted.value))

describe("a sealed value", () => {
  it.prop(
    "opens to its plaintext, and is 97 bytes longer",
    { value: Schema.String, aad: Schema.String },
    ({ value, aad }) => {
      const sealed = run(seal(value, aad), sealWith(newer))
      if (Exit.isFailure(sealed)) throw Cause.squash(sealed.cause)
      expect(sealed.value.length).toBe(97 + Buffer.byteLength(value.toWellFormed()))
      expect(run(open(sealed.value, aad), sealWith(newer))).toEqual(Exit.succeed(value.toWellFormed()))
      expect(run(open(sealed.value, aad), sealWith(foreign, newer))).toEqual(Exit.succeed(value.toWellFormed()))
    }
  )

  it.prop(
    "stays shut after any flipped or cut bit and under another key or aad, and the error shows neither",
    {
      value: Schema.NonEmptyString,
      at: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10 ** 6 })),
      bit: Schema.Literals([1, 2, 4, 8, 16, 32, 64, 128])
    },
    ({ value, at, bit }) => {
      const sealed = run(seal(value, "jobs/1/env"), sealWith(newer))
      if (Exit.isFailure(sealed)) throw Cause.squash(sealed.cause)
      const flipped = sealed.value.slice()
      flipped[at % flipped.length]! ^= bit
      const attempts = [
        run(open(flipped, "jobs/1/env"), sealWith(newer)),
        run(open(sealed.value.subarray(0, at % sealed.value.length), "jobs/1/env"), sealWith(newer)),
        run(open(sealed.value, "jobs/2/env"), sealWith(newer)),
        run(open(sealed.value, "jobs/1/env"), sealWith(older))
      ]
      for (const attempt of attempts) {
        if (Exit.isSuccess(attempt)) return false
        expect(Cause.squash(attempt.cause)).toMatchObject({ _tag: "SealBroken" })
        expect(Cause.pretty(attempt.cause)).not.toContain(newer.slice(0, 12))
      }
      return true
    }
  )

  it("differs each time", () => {
    const sealed = run(Effect.all([seal("a", "b"), seal("a", "b")]), sealWith(newer))
    if (Exit.isFailure(sealed)) throw Cause.squash(sealed.cause)
    expect(sealed.value[0].subarray(9)).not.toEqual(sealed.value[1].subarray(9))
  })
})

onEveryDatabase("master keys", (it) => {
  const keysOf = (given: string | undefined, directory = "/nonexistent") =>
    MasterKeys.pipe(
      Effect.map((keys) => keys.map((key) => key.id.toString("hex"))),
      Effect.provide(
        Layer.fresh(MasterKeys.layer({ given: given === undefined ? undefined : Redacted.make(given), directory }))
      )
    )

  it.effect("sealing keys are refused when the database was sealed with other keys", () =>
    Effect.gen(function* () {
      yield* keysOf(older)
      const error = yield* Effect.flip(keysOf(foreign))
      expect(error).toMatchObject({
        _tag: "MasterKeyUnknown",
        source: "SLUICE_MASTER_KEY",
        missing: keyOf(older).id.toString("hex")
      })
      expect(error.message).not.toContain(older.slice(0, 12))
      expect(yield* keysOf(`${newer},${older}`)).toHaveLength(2)
      expect(yield* Effect.flip(keysOf(older))).toMatchObject({ _tag: "MasterKeyUnknown" })
    })
  )

  it.effect("sealing keys of two servers that start at once: exactly one server wins", () =>
    Effect.gen(function* () {
      const exits = yield* Effect.all([Effect.exit(keysOf(older)), Effect.exit(keysOf(newer))], { concurrency: 2 })
      expect(exits.filter(Exit.isSuccess)).toHaveLength(1)
    })
  )

  it.effect("sealing keys are refused when they are not 32 bytes of base64", () =>
    Effect.gen(function* () {
      for (const bad of ["", "short", text() + "x", `${text()},`, randomBytes(16).toString("base64")]) {
        const error = yield* Effect.flip(keysOf(bad))
        expect(error).toMatchObject({ _tag: "MasterKeyInvalid" })
        if (bad !== "") expect(error.message).not.toContain(bad)
      }
    })
  )

  it.effect("sealing keys are created once in the data directory, readable by its owner alone", () =>
    Effect.gen(function* () {
      const directory = mkdtempSync(join(tmpdir(), "sluice-key-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(directory, { recursive: true })))
      const first = yield* keysOf(undefined, join(directory, "data"))
      expect(yield* keysOf(undefined, join(directory, "data"))).toEqual(first)
      const file = join(directory, "data", "master.key")
      expect(statSync(file).mode & 0o777).toBe(0o600)
      expect(yield* keysOf(readFileSync(file, "utf8").trim())).toEqual(first)
      rmSync(file)
      const error = yield* Effect.flip(keysOf(undefined, join(directory, "data")))
      expect(error).toMatchObject({ _tag: "MasterKeyUnknown", missing: first[0] })
    })
  )

  it.effect("sealing keys replace an empty file of a full disk, and never an unreadable one", () =>
    Effect.gen(function* () {
      const directory = mkdtempSync(join(tmpdir(), "sluice-key-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(directory, { recursive: true })))
      const file = join(directory, "master.key")
      mkdirSync(file)
      const error = yield* Effect.flip(keysOf(undefined, directory))
      expect(error).toMatchObject({ _tag: "MasterKeyUnusable" })
      expect(error.message).toContain("EISDIR")
      rmSync(file, { recursive: true })
      writeFileSync(file, "")
      expect(yield* keysOf(undefined, directory)).toHaveLength(1)
      expect(readdirSync(directory)).toEqual(["master.key"])
    })
  )

  it.effect("sealing keys are created on file systems without hard links", () =>
    Effect.gen(function* () {
      const directory = mkdtempSync(join(tmpdir(), "sluice-key-"))
      const { linkSync } = fs
      const linking = (link: typeof linkSync) =>
        Effect.sync(() => {
          fs.linkSync = link
          syncBuiltinESMExports()
        })
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(directory, { recursive: true })))
      yield* Effect.addFinalizer(() => linking(linkSync))
      // The error codes of network shares and FAT.
      yield* linking(() => {
        throw Object.assign(new Error("EPERM: operation not permitted, link"), { code: "EPERM" })
      })
      const made = yield* keysOf(undefined, directory)
      expect(readdirSync(directory)).toEqual(["master.key"])
      expect(statSync(join(directory, "master.key")).mode & 0o777).toBe(0o600)
      expect(yield* keysOf(undefined, directory)).toEqual(made)
    })
  )
})
