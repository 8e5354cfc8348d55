/**
 * A check for text that is stored or run: PostgreSQL text cannot contain NUL, and neither can an argument or an
 * environment variable of a process.
 */
import { Schema } from "effect"

/** Refuses text that contains NUL. */
export const noNul = Schema.makeFilter((value: string) => (value.includes("\0") ? "must not contain NUL" : undefined))
