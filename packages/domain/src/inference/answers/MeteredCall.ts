/**
 * The money of every answer: set aside before a model is asked, and resolved exactly once however that ends. It can be
 * interrupted while the model answers, and not while it is resolved. What began to be counted ends to be counted.
 */
import { Cause, Effect } from "effect"
import type { NanoUsd } from "../../billing/Money.ts"
import { tooLongIn } from "../../models/InferenceErrors.ts"
import type { Metering } from "../../metering/Metering.ts"
import type { Charge, Reservation } from "../../metering/Settlement.ts"
import type { Watch } from "../../models/ModelMetrics.ts"

export interface MeteredCall<A, E, B> {
  readonly charge: Charge
  /** What it costs at most. */
  readonly amount: NanoUsd
  /** The field that is told of what only the model's server finds too long. */
  readonly param: string
  /** Begins to count it. */
  readonly watch: () => Watch
  readonly produce: (watch: Watch) => Effect.Effect<A, E>
  /** Charges the answer. */
  readonly settle: (reservation: Reservation, answer: A) => Effect.Effect<B>
  /** There is none, or a part of one: charges what is owed, or lets go what was set aside. */
  readonly release: (reservation: Reservation, cause: Cause.Cause<E>) => Effect.Effect<void>
}

export const runMetered = <A, E, B>(metering: Metering["Service"], paid: MeteredCall<A, E, B>) =>
  Effect.uninterruptibleMask((restore) => {
    const watch = paid.watch()
    const answered = Effect.flatMap(metering.reserve(paid.charge, paid.amount), (reservation) =>
      Effect.matchCauseEffect(restore(paid.produce(watch)), {
        onSuccess: (answer) => paid.settle(reservation, answer),
        onFailure: (cause) =>
          Effect.andThen(paid.release(reservation, cause), Effect.failCause(Cause.map(cause, tooLongIn(paid.param))))
      })
    )
    return Effect.onExit(answered, watch.end)
  })
