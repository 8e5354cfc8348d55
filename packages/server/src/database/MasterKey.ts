/**
 * Loads the keys that seal this installation's secrets: from SLUICE_MASTER_KEY (newest first), else from a key file
 * that is created once in the data directory. Raw bytes are kept only in `KeyObject`s; an id is a hash of its key and
 * reveals nothing of it.
 *
 * The database stores the ids in use. A replica with other keys, or without the key file, fails at its start instead of
 * at the first secret.
 */
import { Clock, Context, Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { createHmac, createSecretKey, randomBytes } from "node:crypto"
import type { KeyObject } from "node:crypto"
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeDirectory } from "./Directory.ts"
import { unknownSealingKey } from "./MasterKeyStore.ts"

export interface MasterKey {
  /** KEY_ID_BYTES bytes. */
  readonly id: Buffer
  readonly key: KeyObject
}

export class MasterKeys extends Context.Service<MasterKeys, readonly [newest: MasterKey, ...older: Array<MasterKey>]>()(
  "@sluice/server/database/MasterKeys"
) {
  /** `given` is the text of SLUICE_MASTER_KEY. Without it the layer uses the key file in `directory`. */
  static readonly layer = (options: {
    readonly given: Redacted.Redacted<string> | undefined
    readonly directory: string
  }): Layer.Layer<
    MasterKeys,
    MasterKeyInvalid | MasterKeyUnusable | MasterKeyUnknown | SqlError,
    SqlClient.SqlClient
  > =>
    Layer.effect(
      MasterKeys,
      Effect.gen(function* () {
        const source = options.given === undefined ? join(options.directory, KEY_FILE) : "SLUICE_MASTER_KEY"
        const text = options.given === undefined ? yield* fromFile(options.directory) : Redacted.value(options.given)
        const keys = text.split(",").map((part) => masterKey(Buffer.from(part.trim(), "base64"), part.trim()))
        const [newest, ...older] = keys
        if (newest === undefined || !keys.every((key) => key !== undefined))
          return yield* new MasterKeyInvalid({ source })
        const sql = yield* SqlClient.SqlClient
        const ids = keys.map((key) => key.id.toString("hex"))
        const unknown = yield* unknownSealingKey(sql, ids, new Date(yield* Clock.currentTimeMillis))
        if (unknown !== undefined) return yield* new MasterKeyUnknown({ source, missing: unknown })
        return [newest, ...(older as Array<MasterKey>)] as const
      })
    )
}

/** The text is not a list of base64 texts of 32 bytes each. */
export class MasterKeyInvalid extends Schema.TaggedError<MasterKeyInvalid>()("MasterKeyInvalid", {
  source: Schema.String
}) {
  override get message(): string {
    return `${this.source} must hold 32 bytes as base64 (several, newest first, are separated by commas). Make one with: openssl rand -base64 32`
  }
}

/** The key file can't be read or created. Its content is unknown, so it must not be replaced. */
export class MasterKeyUnusable extends Schema.TaggedError<MasterKeyUnusable>()("MasterKeyUnusable", {
  source: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `The master key ${this.source} can't be read or created: ${this.reason}. Fix the cause, and keep the file: secrets are sealed with it.`
  }
}

/** Secrets in the database were sealed with a key that this process does not have. */
export class MasterKeyUnknown extends Schema.TaggedError<MasterKeyUnknown>()("MasterKeyUnknown", {
  source: Schema.String,
  missing: Schema.String
}) {
  override get message(): string {
    return (
      `Secrets in the database are sealed with master key ${this.missing}, which is not in ${this.source}. ` +
      `Start with that key; every process on one database needs the same SLUICE_MASTER_KEY.`
    )
  }
}

const MASTER_KEY_BYTES = 32
export const KEY_ID_BYTES = 8
const KEY_FILE = "master.key"

/** Undefined when the text is not exactly MASTER_KEY_BYTES in base64. */
export const masterKey = (bytes: Buffer, text: string): MasterKey | undefined => {
  const exact =
    bytes.length === MASTER_KEY_BYTES && bytes.toString("base64").replace(/=+$/, "") === text.replace(/=+$/, "")
  if (!exact) return undefined
  const id = createHmac("sha256", bytes).update("sluice master key id").digest().subarray(0, KEY_ID_BYTES)
  return { id, key: createSecretKey(bytes) }
}

/**
 * Reads the key file. The first start creates it, readable by its owner alone; of two processes that start at once,
 * both use the first one's file.
 */
const fromFile = Effect.fnUntraced(function* (directory: string) {
  const file = join(directory, KEY_FILE)
  return yield* Effect.try({
    try: () => {
      makeDirectory(directory)
      const found = existsSync(file) ? readFileSync(file, "utf8").trim() : ""
      if (found !== "") return found
      createKeyFile(file)
      return readFileSync(file, "utf8").trim()
    },
    catch: (cause) =>
      new MasterKeyUnusable({ source: file, reason: cause instanceof Error ? cause.message : "unknown" })
  })
})

/**
 * Creates the key file in one step: the complete file gets its name by a hard link. An empty file is left by a full
 * disk and is replaced. On file systems without hard links (network shares, FAT) the file is written directly.
 */
const createKeyFile = (file: string): void => {
  // A random name, not the pid: servers in containers that share a directory may all be process 1.
  const unfinished = `${file}.${randomBytes(8).toString("hex")}`
  const text = randomBytes(MASTER_KEY_BYTES).toString("base64") + "\n"
  const options = { mode: 0o600, flush: true, flag: "wx" }
  try {
    writeFileSync(unfinished, text, options)
    if (existsSync(file) && readFileSync(file).length === 0) rmSync(file)
    try {
      linkSync(unfinished, file)
    } catch {
      writeFileSync(file, text, options)
    }
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause && cause.code === "EEXIST")) throw cause
  } finally {
    rmSync(unfinished, { force: true })
  }
}
