/**
 * How requests to models went: counted and timed on the service's clock, tokens and money as they are charged. The series
 * of a model are found once and kept: a request adds to plain numbers. No decision hangs on any of it.
 */
import { type Clock, Effect, Exit, Option } from "effect"
import { type NanoUsd, NANO_PER_USD } from "../billing/Money.ts"
import type { Histogram, Tally } from "../metrics/Family.ts"
import { Metrics } from "../metrics/Metrics.ts"

/** `abandoned`: its caller went away. `refused`: there was no money or no budget for it. */
type End = "ok" | "failed" | "abandoned" | "refused"

/** One for each model that is asked for: models of a catalog alone, so there are few. */
export const makeModelMetrics = Effect.map(Metrics, (metrics) => {
  const known = new Map<string, ModelMetrics>()
  return (model: string): ModelMetrics => {
    const found = known.get(model)
    if (found !== undefined) return found
    const made = new ModelMetrics(metrics, model)
    known.set(model, made)
    return made
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

  /** A request begins; whoever watches it must tell how it ends. `streamed`: its caller hears it as it comes. */
  watch(clock: Clock.Clock, streamed: boolean): Watch {
    return new Watch(this, streamed ? this.openStreams : this.openWhole, clock)
  }

  /** Models that give their answers whole have none. */
  firstWord(ms: number): void {
    this.firstWords ??= this.metrics.modelFirstWord.of(this.model)
    this.firstWords.record(ms / 1_000)
  }

  /** `ms`: how long it took. */
  ended(how: End, ms: number): void {
    this.ends[how].add()
    if (how === "ok") this.durations.record(ms / 1_000)
  }

  /** `tokens` null: nothing was delivered. */
  charged(tokens: { readonly prompt: number; readonly completion: number } | null, cost: NanoUsd): void {
    if (tokens !== null) {
      this.tokensIn.add(tokens.prompt)
      this.tokensOut.add(tokens.completion)
    }
    this.cost.add(Number(cost) / Number(NANO_PER_USD))
  }
}

/** One request, from when it was found in order to its end. */
export class Watch {
  private readonly metrics: ModelMetrics
  private readonly open: Tally
  private readonly clock: Clock.Clock
  private readonly startedMs: number
  private silent = true

  constructor(metrics: ModelMetrics, open: Tally, clock: Clock.Clock) {
    this.metrics = metrics
    this.open = open
    this.clock = clock
    this.startedMs = clock.currentTimeMillisUnsafe()
    open.add()
  }

  /** Something came; the first time counts. */
  heard(): void {
    if (!this.silent) return
    this.silent = false
    this.metrics.firstWord(this.elapsedMs)
  }

  /** For `Effect.onExit`. */
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

/** What is no failure of the model. A caller that does not read is as good as gone. */
const ENDS: Readonly<Record<string, End>> = {
  BudgetReached: "refused",
  CreditInsufficient: "refused",
  ClientStalled: "abandoned"
}
