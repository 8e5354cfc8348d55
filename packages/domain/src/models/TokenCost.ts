/**
 * The cost of tokens, rounded up to the nano-USD once per request. Reservations, settlements and the `usage.cost` of an
 * answer all use this rule.
 */
import { ceilDiv, type NanoUsd } from "../billing/Money.ts"
import type { Model } from "./ModelProvider.ts"

const TOKENS_PER_PRICE = 1_000_000n

export const tokenCost = (
  model: Pick<Model, "promptPrice" | "completionPrice">,
  promptTokens: number,
  completionTokens: number
): NanoUsd => {
  const micro = BigInt(promptTokens) * model.promptPrice + BigInt(completionTokens) * model.completionPrice
  return ceilDiv(micro, TOKENS_PER_PRICE)
}
