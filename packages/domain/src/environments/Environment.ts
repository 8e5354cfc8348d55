/**
 * An environment groups jobs, machines and volumes, and has its own monthly budget (decisions: Tenancy, Environments).
 */
import { Schema } from "effect"
import type { NanoUsd } from "../billing/Money.ts"

export interface Environment {
  readonly id: string
  readonly name: string
  readonly isDefault: boolean
  /** Null: no limit. */
  readonly monthlyBudget: NanoUsd | null
  /** Spent in the current UTC month: the latest month that has begun on the clock of any replica. */
  readonly monthSpent: NanoUsd
  /** Start of the UTC month after the month of `monthSpent`. */
  readonly budgetResetsAt: Date
  readonly createdAt: Date
}

/** The environment that every workspace is created with. */
export const DEFAULT_ENVIRONMENT = "default"

export class EnvironmentNotFound extends Schema.TaggedError<EnvironmentNotFound>()("EnvironmentNotFound", {
  environment: Schema.String
}) {}
