/** A chat model for tests; what a token costs is theirs to say. */
import type { Model } from "@sluice/domain/inference/ModelProvider"

export const modelAt = (promptPrice: bigint, completionPrice: bigint): Model => ({
  id: "m",
  created: 0,
  ownedBy: "t",
  contextLength: 5_000,
  maxOutputTokens: 1_000,
  vision: false,
  promptPrice,
  completionPrice
})
