/**
 * The rules of credit blocks. One replica reserves a block for the requests of one environment, so that under load a
 * reservation is a change in memory and only the charge is a statement. In the store a block is a hold: charges of its
 * requests are taken from it, and the rest is released when the requests pause or the block is old. The classes read no
 * clock: time is a parameter.
 */
import type { NanoUsd } from "../billing/Money.ts"

/**
 * A block is opened if this many reservations arrive within `BUSY_MS`. A lower value reserves money for idle
 * environments, a higher one costs statements.
 */
export const BUSY_REQUESTS = 8
export const BUSY_MS = 250
/**
 * A new block has room for this many requests like the one that opens it, and takes at most 1 / `BLOCK_SHARE` of the
 * free money.
 */
export const BLOCK_REQUESTS = 64n
export const BLOCK_SHARE = 16n
/** Time for which the environment is assumed to have budget left after the store said so (ms). */
export const TRUSTED_MS = 900
/** Time for which new requests use a block (ms). With the longest answer it must be less than a hold's lifetime. */
export const BLOCK_AGE_MS = 60_000
/** A block that was unused for this long is released (ms). */
export const IDLE_MS = 250

/** The part of a credit block that one request reserved. */
export interface CreditLease {
  readonly block: CreditBlock
  readonly amount: NanoUsd
  /** The lease has ended. */
  isReturned: boolean
}

/** A hold that requests of one environment share. */
export class CreditBlock {
  readonly id: string
  /** Nano-USD that no request has reserved. */
  left: NanoUsd
  /** Requests whose charge is not durable yet. */
  activeRequests = 0
  usedMs: number
  readonly openedMs: number

  constructor(id: string, amount: NanoUsd, nowMs: number) {
    this.id = id
    this.left = amount
    this.openedMs = nowMs
    this.usedMs = nowMs
  }

  /** Reserves `amount`; undefined if the block has too little or is not usable. */
  take(amount: NanoUsd, nowMs: number): CreditLease | undefined {
    if (amount > this.left || !this.isUsable(nowMs)) return undefined
    this.left -= amount
    this.activeRequests++
    this.usedMs = nowMs
    return { block: this, amount, isReturned: false }
  }

  /** False if the block is old, or if the clock went back to a time before it was opened. */
  isUsable(nowMs: number): boolean {
    return nowMs >= this.openedMs && nowMs < this.openedMs + BLOCK_AGE_MS
  }

  /** Ends a lease whose request was charged `charged`. A second call changes nothing. */
  settle(lease: CreditLease, charged: NanoUsd): void {
    if (lease.isReturned) return
    lease.isReturned = true
    this.left += lease.amount - charged
    this.activeRequests--
  }
}

/** The state of one environment's money on this replica. */
export class EnvironmentCredit {
  readonly accountId: string
  readonly environmentId: string
  current: CreditBlock | undefined
  /** Replaced blocks; each is released when its last request has ended. */
  readonly retired = new Set<CreditBlock>()
  /** A block is being opened. */
  isOpening = false
  /** A fiber waits for the current block to be idle. */
  isWatched = false
  private available: NanoUsd = 0n
  private trustedUntilMs = 0
  private countedFromMs = 0
  private counted = 0

  constructor(accountId: string, environmentId: string) {
    this.accountId = accountId
    this.environmentId = environmentId
  }

  /** Reserves from the current block; undefined if the request must reserve in the database. */
  take(amount: NanoUsd, nowMs: number): CreditLease | undefined {
    this.countRequest(nowMs)
    const isTrusted = nowMs < this.trustedUntilMs && nowMs >= this.trustedUntilMs - TRUSTED_MS
    return isTrusted ? this.current?.take(amount, nowMs) : undefined
  }

  /** The size of the block that a request of `amount` should open (nano-USD); undefined: none. */
  nextBlockSize(amount: NanoUsd, nowMs: number): NanoUsd | undefined {
    const size = amount * BLOCK_REQUESTS
    const isLargeEnough = this.current !== undefined && this.current.isUsable(nowMs) && this.current.left * 2n >= size
    if (this.isOpening || isLargeEnough || this.counted < BUSY_REQUESTS) return undefined
    return size * BLOCK_SHARE <= this.available ? size : undefined
  }

  /**
   * Records the store's result: the money that is free in balance and budget, and whether the month's budget is
   * reached. `sentMs`: a time before the statement was sent.
   */
  recordFunds(available: NanoUsd, budgetReached: boolean, sentMs: number): void {
    this.available = available
    this.trustedUntilMs = budgetReached ? 0 : sentMs + TRUSTED_MS
  }

  /** Replaces the current block. */
  open(block: CreditBlock): void {
    this.retire()
    this.current = block
  }

  /** Retires the current block: nothing more is reserved from it. */
  retire(): void {
    if (this.current !== undefined) this.retired.add(this.current)
    this.current = undefined
  }

  /** Removes and returns the retired blocks that have no active request. */
  takeFinished(): ReadonlyArray<CreditBlock> {
    const finished = [...this.retired].filter(({ activeRequests }) => activeRequests === 0)
    for (const block of finished) this.retired.delete(block)
    return finished
  }

  /** Holds no state that would be missed. */
  get isEmpty(): boolean {
    return this.current === undefined && this.retired.size === 0 && !this.isOpening
  }

  private countRequest(nowMs: number): void {
    if (nowMs >= this.countedFromMs + BUSY_MS || nowMs < this.countedFromMs) {
      this.countedFromMs = nowMs
      this.counted = 0
    }
    this.counted++
  }
}
