/** PostgreSQL text cannot hold NUL, and neither can an argument or a variable of a process. */
import { Schema } from "effect"

/** A check of a text that is stored or run. */
export const noNul = Schema.makeFilter((value: string) => (value.includes("\0") ? "must not contain NUL" : undefined))
