/**
 * What a model gives whole or not at all: money for it is held before, charged when it came, and let go when it did not.
 * An answer is returned only after its charge is durable.
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
  /** The field that is told of what only the model's server finds too long. */
  readonly param: string
  /** What it costs when it comes, and at most. */
  readonly cost: NanoUsd
  /** What is counted beside the money. */
  readonly tokens: { readonly prompt: number; readonly completion: number }
}

type Owed = Pick<ResultOrder, "cost" | "tokens">

/** For a service: each order gets an id, and no model is asked for longer than the limit of answers. */
export const makeMeteredResult = Effect.gen(function* () {
  const metering = yield* Metering
  const metrics = yield* makeModelMetrics
  const clock = yield* Clock.Clock
  const newId = Effect.orDie((yield* Crypto.Crypto).randomUUIDv7())
  const withinLimit = yield* AnswerLimit
  /** `owedFor`: where it is known only from the answer. */
  return <A, E>(order: ResultOrder, produce: Effect.Effect<A, E>, owedFor: (answer: A) => Owed = () => order) =>
    Effect.flatMap(newId, (id) =>
      runMetered(metering, {
        charge: { id, principal: order.principal },
        amount: order.cost,
        param: order.param,
        watch: () => metrics(order.model).watch(clock, false),
        produce: () => withinLimit(produce),
        settle: (held, answer: A) => Effect.as(metering.settle({ ...order, ...held, ...owedFor(answer) }), answer),
        release: (held) => metering.settle({ ...order, ...held, tokens: null, cost: 0n })
      })
    )
})
