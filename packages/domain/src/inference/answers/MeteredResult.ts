/**
 * Runs a model call that returns its result whole or not at all. Money is reserved before, charged if the result
 * arrived, and released if it did not. A result is returned only after its charge is durable.
 */
import { Clock, Crypto, Effect } from "effect"
import type { Principal } from "../../access/Principal.ts"
import type { NanoUsd } from "../../billing/Money.ts"
import { AnswerLimit } from "./AnswerLimit.ts"
import { Metering } from "../../metering/Metering.ts"
import { makeModelMetrics } from "../../models/ModelMetrics.ts"
import { runMetered } from "./MeteredCall.ts"

export interface ResultOrder {
  readonly principal: Principal
  readonly requestId: string
  readonly model: string
  readonly description: string
  /** The field that an error names if only the model's server found the request too long. */
  readonly param: string
  /** The cost of the result, which is also the maximum. */
  readonly cost: NanoUsd
  /** The tokens that the usage record counts. */
  readonly tokens: { readonly prompt: number; readonly completion: number }
}

type Charged = Pick<ResultOrder, "cost" | "tokens">

/** Makes the runner for a service. Each order gets an id, and each call has the time limit of an answer. */
export const makeMeteredResult = Effect.gen(function* () {
  const metering = yield* Metering
  const metrics = yield* makeModelMetrics
  const clock = yield* Clock.Clock
  const newId = Effect.orDie((yield* Crypto.Crypto).randomUUIDv7())
  const limitAnswer = yield* AnswerLimit
  /** `chargeFor`: computes the cost and tokens from the result, if only the result shows them. */
  return <A, E>(order: ResultOrder, produce: Effect.Effect<A, E>, chargeFor: (answer: A) => Charged = () => order) =>
    Effect.flatMap(newId, (id) =>
      runMetered(metering, {
        charge: { id, principal: order.principal },
        amount: order.cost,
        param: order.param,
        watch: () => metrics(order.model).watch(clock, false),
        produce: () => limitAnswer(produce),
        settle: (reservation, answer: A) =>
          Effect.as(metering.settle({ ...order, ...reservation, ...chargeFor(answer) }), answer),
        release: (reservation) => metering.settle({ ...order, ...reservation, tokens: null, cost: 0n })
      })
    )
})
