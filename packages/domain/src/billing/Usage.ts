/** Sums of inference requests over a range of days, in total and by group (decisions: Billing). */
import type { NanoUsd } from "./Money.ts"

export interface UsageSummary {
  readonly requests: number
  readonly promptTokens: number
  readonly completionTokens: number
  readonly cost: NanoUsd
}

/** What usage is broken down by; days are those of UTC. */
export type UsageBy = "day" | "model" | "key" | "environment"

export interface UsageGroup extends UsageSummary {
  /** A date (`YYYY-MM-DD`), a model, or the id of a key or environment. */
  readonly id: string
  /** That of the key or environment, where it is still there. */
  readonly name: string | null
}
