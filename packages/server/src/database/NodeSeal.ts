/**
 * Seals secrets at rest by envelope encryption. Each value has its own data key, which seals it with AES-256-GCM; the
 * newest master key seals the data key. `aad` names table, row and column, so a sealed value does not open in another
 * place.
 *
 * Layout, in bytes: version 1 | master key id 8 | nonce 12, tag 16, wrapped data key 32 | nonce 12, tag 16, value
 *
 * Opening fails for any other input, always with the same error, which reveals no reason and no byte of a key.
 */
import { Seal, SealBroken } from "@sluice/domain/database/Seal"
import { Effect, Layer, Redacted } from "effect"
import { createCipheriv, createDecipheriv, createSecretKey, randomFillSync } from "node:crypto"
import type { KeyObject } from "node:crypto"
import { KEY_ID_BYTES, MasterKeys } from "./MasterKey.ts"

export const nodeSeal: Layer.Layer<Seal, never, MasterKeys> = Layer.effect(
  Seal,
  Effect.gen(function* () {
    const keys = yield* MasterKeys
    const newest = keys[0]
    const byId = new Map(keys.map((key) => [key.id.toString("hex"), key.key]))
    const random = randomPool()
    return {
      seal: (value, aad) => {
        const dataKey = random(DATA_KEY_BYTES)
        const head = Buffer.concat([VERSION, newest.id])
        const wrapped = encrypt(newest.key, random(NONCE_BYTES), dataKey, head)
        const text = Buffer.from(Redacted.value(value), "utf8")
        const body = encrypt(createSecretKey(dataKey), random(NONCE_BYTES), text, Buffer.from(aad, "utf8"))
        return new Uint8Array(Buffer.concat([head, ...wrapped, ...body]))
      },
      open: (sealed, aad) =>
        Effect.try({
          try: () => Redacted.make(openWith(byId, Buffer.from(sealed), aad)),
          catch: () => new SealBroken({ aad })
        })
    }
  })
)

const ALGORITHM = "aes-256-gcm"
const VERSION = Buffer.from([1])
const DATA_KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const HEAD_BYTES = VERSION.length + KEY_ID_BYTES
const WRAPPED_BYTES = NONCE_BYTES + TAG_BYTES + DATA_KEY_BYTES

const openWith = (byId: ReadonlyMap<string, KeyObject>, sealed: Buffer, aad: string): string => {
  const head = sealed.subarray(0, HEAD_BYTES)
  const master = byId.get(head.subarray(VERSION.length).toString("hex"))
  if (master === undefined || head[0] !== VERSION[0]) throw new Error("sealed by a key that is not here")
  const dataKey = decrypt(master, sealed.subarray(HEAD_BYTES, HEAD_BYTES + WRAPPED_BYTES), head)
  const body = sealed.subarray(HEAD_BYTES + WRAPPED_BYTES)
  return decrypt(createSecretKey(dataKey), body, Buffer.from(aad, "utf8")).toString("utf8")
}

/** Returns nonce, tag and ciphertext. */
const encrypt = (key: KeyObject, nonce: Buffer, plain: Buffer, aad: Buffer): ReadonlyArray<Buffer> => {
  const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(aad)
  const text = cipher.update(plain)
  cipher.final()
  return [nonce, cipher.getAuthTag(), text]
}

/** Throws when any bit of key, nonce, tag, ciphertext or aad differs. */
const decrypt = (key: KeyObject, bytes: Buffer, aad: Buffer): Buffer => {
  const nonce = bytes.subarray(0, NONCE_BYTES)
  const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES)
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES }).setAAD(aad).setAuthTag(tag)
  const plain = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES))
  decipher.final()
  return plain
}

const POOL_BYTES = 8192

/** Draws random bytes in blocks: one draw per value costs more than the sealing. Each byte is used once. */
const randomPool = () => {
  const pool = Buffer.alloc(POOL_BYTES)
  let used = POOL_BYTES
  return (size: number): Buffer => {
    if (used + size > POOL_BYTES) {
      randomFillSync(pool)
      used = 0
    }
    const bytes = Buffer.from(pool.subarray(used, used + size))
    pool.fill(0, used, used + size)
    used += size
    return bytes
  }
}
