/**
 * The `Crypto` of a server that makes ids by the thousand: random bytes come from a pool that is filled 8 KiB at a
 * time, and a UUID's text from a table. Bytes of the pool are handed out once and wiped there.
 */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Crypto, Effect, Layer } from "effect"
import { randomBytes, randomFillSync } from "node:crypto"

const POOL_BYTES = 8_192
const LARGEST_POOLED = 64
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"))

export const layer = Layer.effect(
  Crypto.Crypto,
  Effect.gen(function* () {
    const node = yield* Crypto.Crypto
    const pool = new Uint8Array(POOL_BYTES)
    let at = POOL_BYTES

    const take = (size: number): Uint8Array => {
      if (size > LARGEST_POOLED) return randomBytes(size)
      if (at + size > POOL_BYTES) {
        randomFillSync(pool)
        at = 0
      }
      const bytes = pool.slice(at, at + size)
      pool.fill(0, at, at + size)
      at += size
      return bytes
    }

    const uuidV7 = Effect.clockWith((clock) => {
      const now = Math.max(0, Math.trunc(clock.currentTimeMillisUnsafe()))
      const time = now.toString(16).padStart(12, "0")
      const b = take(10)
      b[0] = (b[0]! & 0x0f) | 0x70
      b[2] = (b[2]! & 0x3f) | 0x80
      const h = (i: number) => HEX[b[i]!]!
      return Effect.succeed(
        `${time.slice(0, 8)}-${time.slice(8, 12)}-${h(0)}${h(1)}-${h(2)}${h(3)}-${h(4)}${h(5)}${h(6)}${h(7)}${h(8)}${h(9)}`
      )
    })

    const made = Crypto.make({ randomBytes: take, digest: node.digest })
    return {
      ...made,
      randomUUIDv7: ((options?: { readonly format?: "hex" | "bytes" }) =>
        options?.format === "bytes" ? made.randomUUIDv7({ format: "bytes" }) : uuidV7) as Crypto.Crypto["randomUUIDv7"]
    }
  })
).pipe(Layer.provide(NodeCrypto.layer))
