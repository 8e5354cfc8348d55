/**
 * What a model's server puts on a call of a tool for itself and wants back with it, such as Gemini's signatures of thoughts:
 * JSON that nobody here reads. It is no part of what is counted; what is too large for that is left out.
 */
import { findFieldBeyondBounds } from "../requests/JsonBounds.ts"

export type ExtraContent = Readonly<Record<string, unknown>>

const MAX_BYTES = 16_384
/** Well within what a body may nest, in which it comes back. */
const BOUNDS = { depth: 32, values: MAX_BYTES }

/** Undefined: it is none, or is not carried. */
export const extraContentOf = (value: unknown): ExtraContent | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) && isCarried(value)
    ? (value as ExtraContent)
    : undefined

const isCarried = (value: object): boolean => {
  const json = jsonOf(value)
  if (json === undefined || json.length > MAX_BYTES || encoder.encode(json).length > MAX_BYTES) return false
  return findFieldBeyondBounds(json, BOUNDS) === undefined
}

const encoder = new TextEncoder()

/** Undefined: it nests too deep to be written. */
const jsonOf = (value: object): string | undefined => {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}
