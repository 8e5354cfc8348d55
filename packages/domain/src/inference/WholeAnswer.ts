/**
 * What a model gives whole or not at all: money for it is held before, charged when it came, and let go when it did not.
 * An answer is returned only after its charge is durable.
 */
import { Clock, Crypto, Effect, Exit } from "effect"
import type { NanoUsd } from "../billing/Money.ts"
import { makeAnswerLimit } from "./AnswerLimit.ts"
import { tooLongIn } from "./InferenceErrors.ts"
import { type Charge, Metering } from "./Metering.ts"
import { makeModelMetrics } from "./ModelMetrics.ts"

export interface Order extends Charge {
  readonly requestId: string
  readonly model: string
  readonly description: string
  /** What it costs when it comes, and at most. */
  readonly cost: NanoUsd
  /** What is counted beside the money. */
  readonly tokens: { readonly prompt: number; readonly completion: number }
}

type Owed = Pick<Order, "cost" | "tokens">

export const wholeAnswer = <A, E>(
  metering: Metering["Service"],
  order: Order,
  produce: Effect.Effect<A, E>,
  owedFor: (answer: A) => Owed = () => order
) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(metering.reserve(order, order.cost), ({ share }) => {
      const held = { ...order, share }
      return Effect.flatMap(Effect.exit(restore(produce)), (exit) =>
        Exit.isSuccess(exit)
          ? Effect.as(metering.settle({ ...held, ...owedFor(exit.value) }), exit.value)
          : Effect.andThen(metering.settle({ ...held, tokens: null, cost: 0n }), Effect.failCause(exit.cause))
      )
    })
  )

/** The same for a service: each order gets an id, and no model is asked for longer than the limit of answers. */
export const makeWholeAnswer = Effect.gen(function* () {
  const metering = yield* Metering
  const metrics = yield* makeModelMetrics
  const newId = Effect.orDie((yield* Crypto.Crypto).randomUUIDv7())
  const withinLimit = yield* makeAnswerLimit
  /**
   * `param`: the field that is told of what only the model's server finds too long. `owedFor`: where it is known only from
   * the answer.
   */
  return <A, E>(param: string, order: Omit<Order, "id">, produce: Effect.Effect<A, E>, owedFor?: (answer: A) => Owed) =>
    Effect.flatMap(newId, (id) =>
      Clock.clockWith((clock) =>
        Effect.uninterruptibleMask((restore) => {
          const watch = metrics(order.model).watch(clock, false)
          const answered = restore(wholeAnswer(metering, { ...order, id }, withinLimit(produce), owedFor))
          return Effect.mapError(Effect.onExit(answered, watch.end), tooLongIn(param))
        })
      )
    )
})
