/** The longest that one answer of a model may take. One timer serves all that are under way. */
import { Clock, Context, Duration, Effect, Fiber, Layer, type Scope } from "effect"
import { Replica } from "../../database/Replica.ts"
import { UpstreamFailed } from "../../models/UpstreamFailed.ts"
import { SlotArray } from "../../runtime/SlotArray.ts"
import { type Abort, withAbort } from "../../runtime/Abortable.ts"

/** Shorter than a hold lives (Metering.ts). */
export const ANSWER_LIMIT_MS = 20 * 60_000

const OVERDUE = new UpstreamFailed({ reason: "timeout" })
const NANOS_PER_MILLI = 1_000_000n

/** `dueMs`: by a clock that does not jump. */
interface UnderWay {
  readonly dueMs: number
  readonly end: Abort<UpstreamFailed>
}

/** Ends an answer that takes longer. */
type WithinLimit = <A, E, R>(answer: Effect.Effect<A, E, R>) => Effect.Effect<A, E | UpstreamFailed, R>

const makeAnswerLimit: Effect.Effect<WithinLimit, never, Replica | Scope.Scope> = Effect.gen(function* () {
  const { scale } = yield* Replica
  const clock = yield* Clock.Clock
  const scope = yield* Effect.scope
  const fork = Effect.runForkWith(yield* Effect.context<never>())
  const nowMs = () => Number(clock.monotonicTimeNanosUnsafe() / NANOS_PER_MILLI)
  const underWay = new SlotArray<UnderWay>()
  let watching = false

  /** Whatever begins while it sleeps is due later than what it sleeps for; what begins as another is ended is seen after that. */
  const watch: Effect.Effect<void> = Effect.suspend(() => {
    const now = nowMs()
    for (const { dueMs, end } of underWay.all()) if (dueMs <= now) end(OVERDUE)
    let next = Number.POSITIVE_INFINITY
    for (const { dueMs } of underWay.all()) if (dueMs > now) next = Math.min(next, dueMs)
    watching = next < Number.POSITIVE_INFINITY
    return watching ? Effect.andThen(clock.sleep(Duration.millis(next - now)), watch) : Effect.void
  })

  const begin = (end: Abort<UpstreamFailed>) => {
    const place = underWay.add({ dueMs: nowMs() + ANSWER_LIMIT_MS * scale, end })
    if (!watching) {
      watching = true
      Fiber.runIn(fork(watch), scope)
    }
    return () => underWay.remove(place)
  }

  return (answer) => withAbort(answer, begin)
})

/**
 * One for all services: each of them provides this layer, which is built once. The limit holds until its scope closes; an
 * answer that begins afterwards has none.
 */
export class AnswerLimit extends Context.Service<AnswerLimit, WithinLimit>()(
  "@sluice/domain/inference/answers/AnswerLimit"
) {
  static readonly layer = Layer.effect(AnswerLimit, makeAnswerLimit)
}
