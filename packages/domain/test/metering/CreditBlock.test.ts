/** Rules of credit blocks, without a database. */
import { describe, expect, it } from "@effect/vitest"
import { ANSWER_LIMIT_MS } from "@sluice/domain/inference/answers/AnswerLimit"
import {
  BLOCK_AGE_MS,
  BLOCK_REQUESTS,
  BLOCK_SHARE,
  BUSY_MS,
  BUSY_REQUESTS,
  CreditBlock,
  EnvironmentCredit,
  type CreditLease,
  TRUSTED_MS
} from "@sluice/domain/metering/CreditBlock"
import { HOLD_EXPIRES_MS } from "@sluice/domain/metering/Metering"
import { Schema } from "effect"

const RICH = 100n * BLOCK_REQUESTS * BLOCK_SHARE

/** An environment's credit that got `times` requests of `amount` at once. */
const makeBusyCredit = (times: number, available: bigint, amount = 1n) => {
  const credit = new EnvironmentCredit("account", "environment")
  credit.recordFunds(available, false, 0)
  for (let n = 0; n < times; n++) credit.take(amount, 0)
  return credit
}

const steps = Schema.Array(
  Schema.Struct({
    settle: Schema.Boolean,
    amount: Schema.BigIntFromString.pipe(
      Schema.toType,
      Schema.check(Schema.isBetweenBigInt({ minimum: 0n, maximum: 400n }))
    ),
    charged: Schema.BigIntFromString.pipe(
      Schema.toType,
      Schema.check(Schema.isBetweenBigInt({ minimum: 0n, maximum: 400n }))
    )
  })
)

describe("A credit block", () => {
  it.prop("never lends more than it holds: free, leased and charged amounts add up to the hold", [steps], ([given]) => {
    const block = new CreditBlock("b", 1_000n, 0)
    const open: Array<CreditLease> = []
    let charged = 0n
    for (const step of given) {
      if (!step.settle) {
        const fits = step.amount <= block.left
        const lease = block.take(step.amount, 1)
        expect(lease !== undefined).toBe(fits)
        if (lease !== undefined) open.push(lease)
      } else if (open.length > 0) {
        const lease = open.shift()!
        const cost = step.charged < lease.amount ? step.charged : lease.amount
        block.settle(lease, cost)
        block.settle(lease, 0n)
        charged += cost
      }
      expect(block.left >= 0n).toBe(true)
      expect(block.left + charged + open.reduce((sum, { amount }) => sum + amount, 0n)).toBe(1_000n)
      expect(block.activeRequests).toBe(open.length)
    }
  })

  it("is not used when it is old, or by a clock that went back", () => {
    const block = new CreditBlock("b", 10n, 1_000)
    expect(block.take(1n, 999)).toBeUndefined()
    expect(block.take(1n, 1_000 + BLOCK_AGE_MS)).toBeUndefined()
    expect(block.take(1n, 999 + BLOCK_AGE_MS)).toBeDefined()
  })

  it("is opened when many requests come at once and the balance covers many more, once at a time", () => {
    expect(makeBusyCredit(BUSY_REQUESTS - 1, RICH).nextBlockSize(1n, 0)).toBeUndefined()
    expect(makeBusyCredit(BUSY_REQUESTS, BLOCK_REQUESTS * BLOCK_SHARE - 1n).nextBlockSize(1n, 0)).toBeUndefined()
    const credit = makeBusyCredit(BUSY_REQUESTS, RICH)
    expect(credit.nextBlockSize(1n, 0)).toBe(BLOCK_REQUESTS)
    // A free request needs no money, and no statement before the model is called.
    expect(makeBusyCredit(BUSY_REQUESTS, 0n, 0n).nextBlockSize(0n, 0)).toBe(0n)
    credit.isOpening = true
    expect(credit.nextBlockSize(1n, 0)).toBeUndefined()
  })

  it("is not opened for a single request", () => {
    const credit = makeBusyCredit(0, RICH)
    for (let n = 0; n < 100; n++) {
      const nowMs = (n * BUSY_MS) / (BUSY_REQUESTS - 1)
      credit.take(1n, nowMs)
      expect(credit.nextBlockSize(1n, nowMs)).toBeUndefined()
    }
  })

  it("is replaced before it is used up, and released when its requests have ended", () => {
    const credit = makeBusyCredit(BUSY_REQUESTS, RICH)
    const first = new CreditBlock("first", BLOCK_REQUESTS, 0)
    credit.open(first)
    const leases = [credit.take(1n, 0)!]
    expect(leases[0]!.block).toBe(first)
    expect(credit.nextBlockSize(1n, 0)).toBeUndefined()
    for (let n = 0n; n < BLOCK_REQUESTS / 2n; n++) leases.push(credit.take(1n, 0)!)
    expect(credit.nextBlockSize(1n, 0)).toBe(BLOCK_REQUESTS)
    const second = new CreditBlock("second", BLOCK_REQUESTS, 0)
    credit.open(second)
    expect(credit.take(1n, 0)?.block).toBe(second)
    expect(credit.takeFinished()).toEqual([])
    for (const lease of leases) first.settle(lease, 1n)
    expect(credit.takeFinished()).toEqual([first])
    expect(credit.takeFinished()).toEqual([])
    expect(credit.isEmpty).toBe(false)
  })

  it("is a hold that outlives the longest answer of its last request", () => {
    expect(BLOCK_AGE_MS + ANSWER_LIMIT_MS).toBeLessThan(HOLD_EXPIRES_MS)
  })

  it("is replaced when it is old, whatever is left of it and whatever leases are open", () => {
    const credit = makeBusyCredit(BUSY_REQUESTS, RICH)
    credit.open(new CreditBlock("old", BLOCK_REQUESTS, 0))
    expect(credit.take(1n, 0)).toBeDefined()
    credit.recordFunds(RICH, false, BLOCK_AGE_MS)
    for (let n = 0; n < BUSY_REQUESTS; n++) expect(credit.take(1n, BLOCK_AGE_MS)).toBeUndefined()
    expect(credit.nextBlockSize(1n, BLOCK_AGE_MS)).toBe(BLOCK_REQUESTS)
    expect(credit.nextBlockSize(1n, BLOCK_AGE_MS - 1)).toBeUndefined()
  })

  it("is not used while the budget is reached, or when the budget was checked too long ago", () => {
    const credit = makeBusyCredit(0, RICH)
    credit.open(new CreditBlock("b", 10n, 0))
    expect(credit.take(1n, TRUSTED_MS - 1)).toBeDefined()
    expect(credit.take(1n, TRUSTED_MS)).toBeUndefined()
    credit.recordFunds(RICH, false, TRUSTED_MS)
    expect(credit.take(1n, TRUSTED_MS)).toBeDefined()
    expect(credit.take(1n, TRUSTED_MS - 1)).toBeUndefined()
    credit.recordFunds(RICH, true, TRUSTED_MS)
    expect(credit.take(1n, TRUSTED_MS)).toBeUndefined()
  })
})
