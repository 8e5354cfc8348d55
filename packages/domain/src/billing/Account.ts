/** An account as callers see it: its balance, its transactions, and the funds that a new purchase may use. */
import type { NanoUsd } from "./Money.ts"

export interface Balance {
  readonly balance: NanoUsd
  readonly held: NanoUsd
  /** What all running machines cost an hour. */
  readonly accruingPerHour: NanoUsd
  /** When the balance is used up at this rate; null when nothing runs. */
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

/** What decides whether what is asked for can be paid. */
export interface Funds {
  readonly available: NanoUsd
  readonly budgetReached: boolean
  /** Null: no budget. */
  readonly budgetRemaining: NanoUsd | null
}
