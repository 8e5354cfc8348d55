/**
 * The servers behind one model: one of them is asked, and where it fails before anything of its answer was handed on, the
 * next one, MAX_ATTEMPTS at most. What is still open when a request ends is hung up on, however it ended. The operator's log
 * gets model, number of the upstream, fault and status; the caller the reason alone.
 */
import type { Tally } from "@sluice/domain/metrics/Family"
import type { Metrics } from "@sluice/domain/metrics/Metrics"
import { type UpstreamHealth } from "@sluice/domain/models/ModelProvider"
import { UpstreamFailed } from "@sluice/domain/models/UpstreamFailed"
import { type Clock, Duration, Effect, Exit, Option, Random, type Scope } from "effect"
import { pauseOf, stateOf, type Verdict } from "./Breaker.ts"
import { CallFailed, OVERLOADED, toldOf, toldOfAll, verdictOf, worthAnother } from "./CallFailed.ts"
import type { ServedModel } from "../catalog/UpstreamCatalog.ts"
import { choose } from "./Choice.ts"
import type { Exchange } from "./Exchange.ts"
import { type Sent, Upstream } from "./Upstream.ts"

const MAX_ATTEMPTS = 3
/** How long the rest of an answer that is complete may take before its connection is given up. */
const LINGER = Duration.seconds(1)

export interface Surroundings {
  /** Upstreams live in real time, also where the service's clock runs faster. */
  readonly clock: Clock.Clock
  readonly metrics: (typeof Metrics)["Service"]
  /** Ends with the provider. */
  readonly scope: Scope.Scope
}

/** How one of them is chosen, and when another one may follow. */
export interface Plan {
  /** From 0 up to but not 1. */
  readonly drawn: Effect.Effect<number>
  readonly another: (failed: CallFailed) => boolean
  /** The only one that can answer. */
  readonly only?: number
}

/** A fair draw, and another one wherever that may help. */
const ANY: Plan = { drawn: Random.next, another: worthAnother }

export class Upstreams {
  readonly all: ReadonlyArray<Upstream>
  readonly model: string
  private readonly around: Surroundings
  /** Requests to each. */
  private readonly asked: ReadonlyArray<Tally>

  constructor(offer: ServedModel<{ readonly id: string }>, around: Surroundings) {
    this.model = offer.model.id
    this.all = offer.servers.map((server) => new Upstream(server))
    this.around = around
    this.asked = this.all.map((_, at) => around.metrics.upstreamRequests.of(this.model, String(at)))
  }

  run<A, E>(call: Call<A, E>, plan: Plan = ANY): Effect.Effect<A, UpstreamFailed | E> {
    return Effect.suspend(() => this.attempt(call, plan, [], []))
  }

  /** As `run`, for what is read for longer than the call: until the scope ends. One upstream is asked. */
  open<A>(call: Call<A, never>, plan: Plan): Effect.Effect<A, UpstreamFailed, Scope.Scope> {
    return Effect.flatMap(plan.drawn, (drawn) =>
      Effect.flatMap(
        Effect.acquireRelease(
          Effect.sync(() => this.lease(plan, [], undefined, drawn)),
          (lease, exit) => (lease === undefined ? Effect.void : this.end(lease, exit))
        ),
        (lease) =>
          lease === undefined
            ? Effect.fail(this.timed(OVERLOADED, plan))
            : Effect.catchTag(call(lease), "CallFailed", (error) =>
                Effect.andThen(this.tell(lease.at, error), Effect.fail(toldOf(error)))
              )
      )
    )
  }

  /** Hangs up on all. */
  close(): Effect.Effect<void> {
    return Effect.promise(() => Promise.all(this.all.map((upstream) => upstream.close())))
  }

  get health(): ReadonlyArray<UpstreamHealth> {
    const now = this.nowMs
    return this.all.map(({ breaker }, upstream) => ({ model: this.model, upstream, state: stateOf(breaker, now) }))
  }

  get nowMs(): number {
    return this.around.clock.currentTimeMillisUnsafe()
  }

  sleep(time: Duration.Duration): Effect.Effect<void> {
    return this.around.clock.sleep(time)
  }

  private attempt<A, E>(
    call: Call<A, E>,
    plan: Plan,
    tried: ReadonlyArray<number>,
    failed: ReadonlyArray<CallFailed>
  ): Effect.Effect<A, UpstreamFailed | E> {
    return Effect.flatMap(plan.drawn, (drawn) => {
      let lease: Lease | undefined
      const asked = Effect.acquireUseRelease(
        Effect.sync(
          () => (lease = tried.length < MAX_ATTEMPTS ? this.lease(plan, tried, failed.at(-1), drawn) : undefined)
        ),
        (lease): Effect.Effect<A, CallFailed | UpstreamFailed | E> =>
          lease === undefined
            ? Effect.fail(this.timed(toldOfAll(failed, plan.only === undefined ? this.all.length : 1), plan))
            : call(lease),
        (lease, exit) => (lease === undefined ? Effect.void : this.end(lease, exit))
      )
      return Effect.matchEffect(asked, {
        onSuccess: Effect.succeed,
        onFailure: (error) => {
          if (!(error instanceof CallFailed) || lease === undefined) return Effect.fail(error as UpstreamFailed | E)
          const { at, handedOn } = lease
          const next =
            !handedOn && plan.another(error)
              ? this.attempt(call, plan, [...tried, at], [...failed, error])
              : Effect.fail(this.timed(toldOf(error), plan))
          return Effect.andThen(this.tell(at, error), next)
        }
      })
    })
  }

  /** Where nobody may be asked for some time, callers are told for how long. */
  private timed(told: UpstreamFailed, { only }: Plan): UpstreamFailed {
    if (told.reason !== "overloaded") return told
    const now = this.nowMs
    const able = only === undefined ? this.all : this.all.slice(only, only + 1)
    const pauseMs = Math.min(...able.map(({ breaker }) => pauseOf(breaker, now)))
    if (pauseMs === 0) return told
    return new UpstreamFailed({ reason: "overloaded", retryAfterSeconds: Math.ceil(pauseMs / 1_000) })
  }

  private lease(plan: Plan, tried: ReadonlyArray<number>, last: CallFailed | undefined, drawn: number) {
    const now = this.nowMs
    const at = this.pick(plan, tried, last, drawn, now)
    if (at === undefined) return undefined
    this.asked[at]!.add()
    return new Lease(this, this.all[at]!, at, this.all[at]!.admit(now))
  }

  /** One that was not tried; or once more the one whose connection had ended just before. */
  private pick(plan: Plan, tried: ReadonlyArray<number>, last: CallFailed | undefined, drawn: number, now: number) {
    const { all } = this
    const fresh = all.map((upstream, at) => ({
      weight: upstream.weight,
      usable: upstream.usable(now) && !tried.includes(at) && (plan.only ?? at) === at
    }))
    const chosen = choose(fresh, drawn)
    if (chosen !== undefined || last?.fault !== "lost") return chosen
    const again = tried.at(-1)!
    return tried.indexOf(again) === tried.length - 1 && all[again]!.usable(now) ? again : undefined
  }

  private end(lease: Lease, exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> {
    return Effect.suspend(() => {
      const failed = Exit.isSuccess(exit) ? undefined : Option.getOrUndefined(Exit.findErrorOption(exit))
      const { exchange } = lease
      const known = failed instanceof CallFailed ? failed : Exit.isFailure(exit) ? exchange?.failure : undefined
      lease.judge(Exit.isSuccess(exit) ? ANSWERED : known === undefined ? NOTHING : verdictOf(known, lease.crashes))
      if (exchange === undefined || exchange.over) return Effect.void
      if (Exit.isFailure(exit) && known?.fault !== "status" && known?.fault !== "too_long") {
        exchange.abort()
        return Effect.void
      }
      exchange.leave()
      const given = Effect.sync(() => exchange.abort())
      return Effect.asVoid(Effect.forkIn(Effect.andThen(this.sleep(LINGER), given), this.around.scope))
    })
  }

  private tell(at: number, { fault, status }: CallFailed): Effect.Effect<void> {
    const what = fault === "status" ? { status } : { fault }
    const kind = fault === "status" ? `status_${Math.trunc(status / 100)}xx` : fault
    this.around.metrics.upstreamFailures.of(this.model, String(at), kind).add()
    return Effect.annotateLogs(Effect.logWarning("An upstream failed"), { model: this.model, upstream: at, ...what })
  }
}

/** What is done with an upstream. It fails with `CallFailed`, or as its own caller does. */
export type Call<A, E> = (lease: Lease) => Effect.Effect<A, CallFailed | E>

/** One request's use of one upstream. */
export class Lease {
  readonly upstream: Upstream
  /** Something of the answer was told, be it for the bill alone. */
  heard = false
  /** Something of the answer has left us: no other upstream can answer any more. */
  handedOn = false
  /** A 500 may be the request's doing: it says nothing of how others would fare. */
  crashes = false
  exchange: Exchange | undefined
  /** Which one of the model's. */
  readonly at: number
  private readonly upstreams: Upstreams
  private probe: boolean

  constructor(upstreams: Upstreams, upstream: Upstream, at: number, probe: boolean) {
    this.upstreams = upstreams
    this.upstream = upstream
    this.at = at
    this.probe = probe
  }

  get nowMs(): number {
    return this.upstreams.nowMs
  }

  /** By the upstream's clock. */
  sleep(time: Duration.Duration): Effect.Effect<void> {
    return this.upstreams.sleep(time)
  }

  /** One at a time. */
  send(sent: Sent): Exchange {
    this.exchange?.abort()
    return (this.exchange = this.upstream.send(sent))
  }

  /** To be called before something is handed on. An upstream that is probed has answered with it, however long it goes on. */
  handOn(): void {
    if (this.handedOn) return
    this.handedOn = true
    if (!this.probe) return
    this.judge(ANSWERED)
    this.probe = false
  }

  judge(verdict: Verdict): void {
    this.upstream.judge(verdict, this.probe, this.upstreams.nowMs)
  }
}

const ANSWERED: Verdict = { _tag: "Answered" }
const NOTHING: Verdict = { _tag: "Nothing" }
