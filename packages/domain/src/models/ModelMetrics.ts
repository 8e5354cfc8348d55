/**
 * Metrics of requests to models: counts and durations on the service's clock, and the tokens and money that were
 * charged. The series of a model are looked up once, so that a request only adds to numbers. Nothing depends on these
 * metrics.
 */
import { type Clock, Effect, Exit, Option } from "effect"
import { type NanoUsd, NANO_PER_USD } from "../billing/Money.ts"
import type { Histogram, Tally } from "../metrics/Family.ts"
import { Metrics } from "../metrics/Metrics.ts"

/** `abandoned`: the caller disconnected. `refused`: balance or budget did not cover the request. */
type End = "ok" | "failed" | "abandoned" | "refused"

/** Keeps one instance for each requested model. Models come from a catalog, so they are few. */
export const makeModelMetrics = Effect.map(Metrics, (metrics) => {
  const byModel = new Map<string, ModelMetrics>()
  return (model: string): ModelMetrics => {
    const existing = byModel.get(model)
    if (existing !== undefined) return existing
    const created = new ModelMetrics(metrics, model)
    byModel.set(model, created)
    return created
  }
})

export class ModelMetrics {
  private readonly metrics: (typeof Metrics)["Service"]
  private readonly model: string
  private readonly ends: Readonly<Record<End, Tally>>
  private readonly openWhole: Tally
  private readonly openStreams: Tally
  private firstWords: Histogram | undefined
  private readonly durations: Histogram
  private readonly tokensIn: Tally
  private readonly tokensOut: Tally
  private readonly cost: Tally

  constructor(metrics: (typeof Metrics)["Service"], model: string) {
    this.metrics = metrics
    this.model = model
    const end = (how: End) => metrics.modelRequests.of(model, how)
    this.ends = { ok: end("ok"), failed: end("failed"), abandoned: end("abandoned"), refused: end("refused") }
    this.openWhole = metrics.modelOpen.of(model, "no")
    this.openStreams = metrics.modelOpen.of(model, "yes")
    this.durations = metrics.modelDuration.of(model)
    this.tokensIn = metrics.modelTokens.of(model, "in")
    this.tokensOut = metrics.modelTokens.of(model, "out")
    this.cost = metrics.modelCost.of(model)
  }

  /** Starts the watch of a request; the caller must run its `end`. `streamed`: the answer is streamed. */
  watch(clock: Clock.Clock, streamed: boolean): Watch {
    return new Watch(this, streamed ? this.openStreams : this.openWhole, clock)
  }

  /**
   * Records the time to the first token (ms). The series is created at first use, because models that answer whole have
   * none.
   */
  firstWord(ms: number): void {
    this.firstWords ??= this.metrics.modelFirstWord.of(this.model)
    this.firstWords.record(ms / 1_000)
  }

  /** Records the end of a request after `ms`. */
  ended(how: End, ms: number): void {
    this.ends[how].add()
    if (how === "ok") this.durations.record(ms / 1_000)
  }

  /** Records a charge. `tokens` null: no answer was delivered. */
  charged(tokens: { readonly prompt: number; readonly completion: number } | null, cost: NanoUsd): void {
    if (tokens !== null) {
      this.tokensIn.add(tokens.prompt)
      this.tokensOut.add(tokens.completion)
    }
    this.cost.add(Number(cost) / Number(NANO_PER_USD))
  }
}

/** The watch of one request, from its admission to its end. */
export class Watch {
  private readonly metrics: ModelMetrics
  private readonly open: Tally
  private readonly clock: Clock.Clock
  private readonly startedMs: number
  private isSilent = true

  constructor(metrics: ModelMetrics, open: Tally, clock: Clock.Clock) {
    this.metrics = metrics
    this.open = open
    this.clock = clock
    this.startedMs = clock.currentTimeMillisUnsafe()
    open.add()
  }

  /** Records the first event of an answer; later calls do nothing. */
  heard(): void {
    if (!this.isSilent) return
    this.isSilent = false
    this.metrics.firstWord(this.elapsedMs)
  }

  /** Records the end of the request. For `Effect.onExit`. */
  readonly end = (exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> => {
    this.open.add(-1)
    this.metrics.ended(endOf(exit), this.elapsedMs)
    return Effect.void
  }

  private get elapsedMs(): number {
    return Math.max(0, this.clock.currentTimeMillisUnsafe() - this.startedMs)
  }
}

const endOf = (exit: Exit.Exit<unknown, unknown>): End => {
  if (Exit.isSuccess(exit)) return "ok"
  if (Exit.hasInterrupts(exit)) return "abandoned"
  const error = Option.getOrUndefined(Exit.findErrorOption(exit))
  return (typeof error === "object" && error !== null && "_tag" in error && ENDS[String(error._tag)]) || "failed"
}

/** Errors that are no failures of the model. A caller that does not read counts as disconnected. */
const ENDS: Readonly<Record<string, End>> = {
  BudgetReached: "refused",
  CreditInsufficient: "refused",
  ClientStalled: "abandoned"
}
