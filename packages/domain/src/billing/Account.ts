/** An account as callers see it: its balance, its transactions, and the funds of a new purchase. */
import type { NanoUsd } from "./Money.ts"

export interface Balance {
  readonly balance: NanoUsd
  readonly held: NanoUsd
  /** The price of all running machines (nano-USD an hour). */
  readonly accruingPerHour: NanoUsd
  /** The time at which the balance is used up at this rate; null if no machine runs. */
  readonly runsOutAt: Date | null
}

export const transactionKinds = ["credit", "machine", "inference", "storage", "adjustment"] as const

export interface Transaction {
  readonly id: string
  readonly kind: (typeof transactionKinds)[number]
  /** Signed: a charge is negative. */
  readonly amount: NanoUsd
  readonly balanceAfter: NanoUsd
  readonly description: string
  readonly resourceType: string | null
  readonly resourceId: string | null
  readonly createdAt: Date
}

/** The funds that decide whether a purchase is admitted. */
export interface Funds {
  readonly available: NanoUsd
  readonly budgetReached: boolean
  /** Null: no budget. */
  readonly budgetRemaining: NanoUsd | null
}
