/**
 * The tokenizer: o200k, by the slices of the domain's rule. Synchronous; also what the worker runs.
 * A user's `<|endoftext|>` is text like any other.
 */
import { countSliced } from "@sluice/domain/inference/Tokens"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"

const PLAIN = { disallowedSpecial: new Set<string>() }

const countSlice = (slice: string): number => countTokens(slice, PLAIN)

export const countText = (text: string): number => countSliced(text, countSlice)
