/** The cost of tokens: in whole nano-USD, rounded up once. */
import { describe, expect, it } from "@effect/vitest"
import { tokenCost } from "@sluice/domain/models/TokenCost"
import { Schema } from "effect"

const tokens = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2_147_483_647 }))
const price = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000_000 }))

describe("The cost of tokens", () => {
  it.prop("is the exact one, rounded up once", [tokens, tokens, price, price], ([prompt, completion, a, b]) => {
    const [promptPrice, completionPrice] = [BigInt(a), BigInt(b)]
    const exact = BigInt(prompt) * promptPrice + BigInt(completion) * completionPrice
    const over = tokenCost({ promptPrice, completionPrice }, prompt, completion) * 1_000_000n - exact
    expect(over >= 0n && over < 1_000_000n).toBe(true)
  })

  it("is a nano-USD for the smallest part of one, and zero for zero tokens", () => {
    const cheap = { promptPrice: 1n, completionPrice: 1n }
    expect(tokenCost(cheap, 1, 0)).toBe(1n)
    expect(tokenCost(cheap, 500_000, 500_001)).toBe(2n)
    expect(tokenCost(cheap, 0, 0)).toBe(0n)
  })
})
