/**
 * Runs a model call with its money: the money is reserved before the model is asked, and settled or released exactly
 * once, however the call ends. The call can be interrupted while the model answers, but not during its settlement.
 * Metrics count the end of every call that they counted at its start.
 */
import { Cause, Effect } from "effect"
import type { NanoUsd } from "../../billing/Money.ts"
import { toContextLengthError } from "../../models/InferenceErrors.ts"
import type { Metering } from "../../metering/Metering.ts"
import type { Charge, Reservation } from "../../metering/Settlement.ts"
import type { Watch } from "../../models/ModelMetrics.ts"

export interface MeteredCall<A, E, B> {
  readonly charge: Charge
  /** The maximum cost. */
  readonly amount: NanoUsd
  /** The field that an error names if only the model's server found the request too long. */
  readonly param: string
  /** Starts the metrics of the call. */
  readonly watch: () => Watch
  readonly produce: (watch: Watch) => Effect.Effect<A, E>
  /** Charges the answer. */
  readonly settle: (reservation: Reservation, answer: A) => Effect.Effect<B>
  /** Called if there is no answer or only a part of one: charges the part, or releases the reservation. */
  readonly release: (reservation: Reservation, cause: Cause.Cause<E>) => Effect.Effect<void>
}

export const runMetered = <A, E, B>(metering: Metering["Service"], call: MeteredCall<A, E, B>) =>
  Effect.uninterruptibleMask((restore) => {
    const watch = call.watch()
    const answered = Effect.flatMap(metering.reserve(call.charge, call.amount), (reservation) =>
      Effect.matchCauseEffect(restore(call.produce(watch)), {
        onSuccess: (answer) => call.settle(reservation, answer),
        onFailure: (cause) =>
          Effect.andThen(
            call.release(reservation, cause),
            Effect.failCause(Cause.map(cause, toContextLengthError(call.param)))
          )
      })
    )
    return Effect.onExit(answered, watch.end)
  })
