/**
 * Data that a model's server attaches to a tool call for itself and expects back with the call, such as Gemini's
 * thought signatures. This service passes the JSON on and never reads it. Extra content counts no tokens, so it is
 * dropped if it is too large.
 */
import { findFieldBeyondBounds } from "../requests/JsonBounds.ts"

export type ExtraContent = Readonly<Record<string, unknown>>

const MAX_BYTES = 16_384
/** Well below the limits of a body, because the data returns in one. */
const BOUNDS = { depth: 32, values: MAX_BYTES }

/** Returns the value as extra content; undefined if it is not an object or too large. */
export const extraContentOf = (value: unknown): ExtraContent | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) && isWithinBounds(value)
    ? (value as ExtraContent)
    : undefined

const isWithinBounds = (value: object): boolean => {
  const json = jsonOf(value)
  if (json === undefined || json.length > MAX_BYTES || encoder.encode(json).length > MAX_BYTES) return false
  return findFieldBeyondBounds(json, BOUNDS) === undefined
}

const encoder = new TextEncoder()

/** Undefined: it nests too deep for `JSON.stringify`. */
const jsonOf = (value: object): string | undefined => {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}
