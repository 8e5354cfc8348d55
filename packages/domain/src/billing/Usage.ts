/** Sums of inference requests over a range of days, in total and by group (decisions: Billing). */
import type { NanoUsd } from "./Money.ts"

export interface UsageSummary {
  readonly requests: number
  readonly promptTokens: number
  readonly completionTokens: number
  readonly cost: NanoUsd
}

/** The groupings of usage. Days are UTC days. */
export type UsageBy = "day" | "model" | "key" | "environment"

export interface UsageGroup extends UsageSummary {
  /** A date (`YYYY-MM-DD`), a model, or the id of a key or environment. */
  readonly id: string
  /** The name of the key or environment; null if it was deleted, or for a day or model. */
  readonly name: string | null
}
