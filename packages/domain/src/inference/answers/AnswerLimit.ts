/** The time limit of an answer of a model. One timer serves all answers that are in progress. */
import { Clock, Context, Duration, Effect, Fiber, Layer, type Scope } from "effect"
import { Replica } from "../../database/Replica.ts"
import { UpstreamFailed } from "../../models/UpstreamFailed.ts"
import { SlotArray } from "../../runtime/SlotArray.ts"
import { type Abort, withAbort } from "../../runtime/Abortable.ts"

/** The time limit of an answer (ms), which must be shorter than the lifetime of a hold (Metering.ts). */
export const ANSWER_LIMIT_MS = 20 * 60_000

const OVERDUE = new UpstreamFailed({ reason: "timeout" })
const NANOS_PER_MILLI = 1_000_000n

/** An answer in progress. `dueMs`: on the monotonic clock. */
interface RunningAnswer {
  readonly dueMs: number
  readonly abort: Abort<UpstreamFailed>
}

/** Fails an answer that takes longer than the limit with `UpstreamFailed` ("timeout"). */
type WithinLimit = <A, E, R>(answer: Effect.Effect<A, E, R>) => Effect.Effect<A, E | UpstreamFailed, R>

const makeAnswerLimit: Effect.Effect<WithinLimit, never, Replica | Scope.Scope> = Effect.gen(function* () {
  const { scale } = yield* Replica
  const clock = yield* Clock.Clock
  const scope = yield* Effect.scope
  const fork = Effect.runForkWith(yield* Effect.context<never>())
  const nowMs = () => Number(clock.monotonicTimeNanosUnsafe() / NANOS_PER_MILLI)
  const running = new SlotArray<RunningAnswer>()
  let isWatching = false

  /**
   * Aborts overdue answers and sleeps until the next one is due. An answer that begins during the sleep is due after
   * the sleep ends. An answer that begins while others are aborted is found by the second loop.
   */
  const watch: Effect.Effect<void> = Effect.suspend(() => {
    const now = nowMs()
    for (const { dueMs, abort } of running.all()) if (dueMs <= now) abort(OVERDUE)
    let next = Number.POSITIVE_INFINITY
    for (const { dueMs } of running.all()) if (dueMs > now) next = Math.min(next, dueMs)
    isWatching = next < Number.POSITIVE_INFINITY
    return isWatching ? Effect.andThen(clock.sleep(Duration.millis(next - now)), watch) : Effect.void
  })

  const begin = (abort: Abort<UpstreamFailed>) => {
    const slot = running.add({ dueMs: nowMs() + ANSWER_LIMIT_MS * scale, abort })
    if (!isWatching) {
      isWatching = true
      Fiber.runIn(fork(watch), scope)
    }
    return () => running.remove(slot)
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
