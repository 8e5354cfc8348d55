/**
 * The `Crypto` of the server. Random bytes come from a pool that is filled with 8 KiB at a time; each byte is used once
 * and then erased. UUIDs are no secrets: their digits come from a separate text, and each digit is used once too.
 */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Crypto, Effect, Layer } from "effect"
import { randomBytes, randomFillSync } from "node:crypto"
import { ID_DIGITS, IdOrder } from "./IdOrder.ts"

const POOL_BYTES = 8_192
const MAX_POOLED_BYTES = 64

export const layer = Layer.effect(
  Crypto.Crypto,
  Effect.gen(function* () {
    const node = yield* Crypto.Crypto
    const pool = new Uint8Array(POOL_BYTES)
    let at = POOL_BYTES

    const take = (size: number): Uint8Array => {
      if (size > MAX_POOLED_BYTES) return randomBytes(size)
      if (at + size > POOL_BYTES) {
        randomFillSync(pool)
        at = 0
      }
      const bytes = pool.slice(at, at + size)
      pool.fill(0, at, at + size)
      at += size
      return bytes
    }

    let digits = ""
    let next = 0
    const order = new IdOrder()

    const uuidV7 = Effect.clockWith((clock) => {
      if (next + ID_DIGITS > digits.length) {
        digits = randomBytes(POOL_BYTES).toString("hex")
        next = 0
      }
      const at = next
      next += ID_DIGITS
      return Effect.succeed(order.next(clock.currentTimeMillisUnsafe(), digits, at))
    })

    const made = Crypto.make({ randomBytes: take, digest: node.digest })
    return {
      ...made,
      randomUUIDv7: ((options?: { readonly format?: "hex" | "bytes" }) =>
        options?.format === "bytes" ? made.randomUUIDv7({ format: "bytes" }) : uuidV7) as Crypto.Crypto["randomUUIDv7"]
    }
  })
).pipe(Layer.provide(NodeCrypto.layer))
