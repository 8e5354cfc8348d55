/** One run of a request with an Idempotency-Key. Statements that create its resource use it as their guard. */
import { Context } from "effect"

export interface Attempt {
  /** The id that its resource gets. */
  readonly id: string
  /** An earlier run of the same request may have made it. */
  readonly again: boolean
  /** The key, and until when it is this run's: afterwards another run may have taken it over. */
  readonly key: string
  readonly lockedUntil: Date
}

/** Undefined without an Idempotency-Key. */
export const CurrentAttempt = Context.Reference<Attempt | undefined>("@sluice/domain/idempotency/Attempt", {
  defaultValue: () => undefined
})
