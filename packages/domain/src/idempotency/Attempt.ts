/**
 * One run of a request with an Idempotency-Key. Statements that create the request's resource use it as their guard.
 */
import { Context } from "effect"

export interface Attempt {
  /** The id of the resource that the request creates. */
  readonly id: string
  /** An earlier run of the same request may have created the resource. */
  readonly isRetry: boolean
  /** The Idempotency-Key, with the end of this run's lease: after it another run may take the key over. */
  readonly key: string
  readonly lockedUntil: Date
}

/** Undefined if the request has no Idempotency-Key. */
export const CurrentAttempt = Context.Reference<Attempt | undefined>("@sluice/domain/idempotency/Attempt", {
  defaultValue: () => undefined
})
