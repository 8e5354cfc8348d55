/**
 * Money that one replica has set aside for the requests of one environment, so that under load a reservation is a look into
 * memory and only the charge is a statement. On the books a block is a hold like any other: what its requests are charged
 * leaves it, and what is left is given back when they pause or the block is old. Pure but for its fields: time is a parameter.
 */
import type { NanoUsd } from "../billing/Money.ts"

/** A block is worth it where so many reservations come within so long. */
export const BUSY_REQUESTS = 8
export const BUSY_MS = 250
/** It is asked for with room for so many requests like the one that asks, and takes no more than this part of what is free. */
export const BLOCK_REQUESTS = 64n
export const BLOCK_SHARE = 16n
/** For so long the environment is believed to have budget left. */
export const TRUSTED_MS = 900
/** New requests use a block for so long; with the longest answer this is less than a hold lives. */
export const BLOCK_AGE_MS = 60_000
/** A block that nobody used for so long is given back. */
export const IDLE_MS = 250

/** What one request has reserved of a block. */
export interface CreditLease {
  readonly block: CreditBlock
  readonly amount: NanoUsd
  /** Whether the block has it back. */
  returned: boolean
}

/** A hold that requests share. */
export class CreditBlock {
  readonly id: string
  /** Nano-USD that no request has reserved. */
  left: NanoUsd
  /** Requests whose charge is not durable yet. */
  underWay = 0
  usedMs: number
  readonly openedMs: number

  constructor(id: string, amount: NanoUsd, nowMs: number) {
    this.id = id
    this.left = amount
    this.openedMs = nowMs
    this.usedMs = nowMs
  }

  /** Reserves, where there is room. */
  take(amount: NanoUsd, nowMs: number): CreditLease | undefined {
    if (amount > this.left || !this.isUsable(nowMs)) return undefined
    this.left -= amount
    this.underWay++
    this.usedMs = nowMs
    return { block: this, amount, returned: false }
  }

  /** Neither old, nor of a time that is yet to come where the clock went back. */
  isUsable(nowMs: number): boolean {
    return nowMs >= this.openedMs && nowMs < this.openedMs + BLOCK_AGE_MS
  }

  /** A request was charged `charged` of its share; saying it again changes nothing. */
  settle(share: CreditLease, charged: NanoUsd): void {
    if (share.returned) return
    share.returned = true
    this.left += share.amount - charged
    this.underWay--
  }
}

/** What a replica knows of the money behind one environment. */
export class EnvironmentCredit {
  readonly accountId: string
  readonly environmentId: string
  current: CreditBlock | undefined
  /** Replaced; given back once their requests are through. */
  readonly retired = new Set<CreditBlock>()
  /** A block is being asked for. */
  asking = false
  /** Somebody waits for the current block to be idle. */
  watched = false
  private available: NanoUsd = 0n
  private trustedUntilMs = 0
  private countedFromMs = 0
  private counted = 0

  constructor(accountId: string, environmentId: string) {
    this.accountId = accountId
    this.environmentId = environmentId
  }

  /** Reserves from the current block; undefined: the database must be asked. */
  take(amount: NanoUsd, nowMs: number): CreditLease | undefined {
    this.count(nowMs)
    const trusted = nowMs < this.trustedUntilMs && nowMs >= this.trustedUntilMs - TRUSTED_MS
    return trusted ? this.current?.take(amount, nowMs) : undefined
  }

  /** The size of the block that a request of `amount` should ask for; undefined: none. */
  wants(amount: NanoUsd, nowMs: number): NanoUsd | undefined {
    const size = amount * BLOCK_REQUESTS
    const roomy = this.current !== undefined && this.current.isUsable(nowMs) && this.current.left * 2n >= size
    if (this.asking || roomy || this.counted < BUSY_REQUESTS) return undefined
    return size * BLOCK_SHARE <= this.available ? size : undefined
  }

  /** What the database said: money that is free in balance and budget, and whether the month's budget is reached. `askedMs`: before it was asked. */
  learn(available: NanoUsd, budgetReached: boolean, askedMs: number): void {
    this.available = available
    this.trustedUntilMs = budgetReached ? 0 : askedMs + TRUSTED_MS
  }

  /** A new block is there. */
  open(block: CreditBlock): void {
    this.retire()
    this.current = block
  }

  /** Nothing more is reserved from the current block. */
  retire(): void {
    if (this.current !== undefined) this.retired.add(this.current)
    this.current = undefined
  }

  /** Takes out the retired blocks whose requests are through. */
  through(): ReadonlyArray<CreditBlock> {
    const done = [...this.retired].filter(({ underWay }) => underWay === 0)
    for (const block of done) this.retired.delete(block)
    return done
  }

  /** Nothing is known that would be missed. */
  get empty(): boolean {
    return this.current === undefined && this.retired.size === 0 && !this.asking
  }

  private count(nowMs: number): void {
    if (nowMs >= this.countedFromMs + BUSY_MS || nowMs < this.countedFromMs) {
      this.countedFromMs = nowMs
      this.counted = 0
    }
    this.counted++
  }
}
