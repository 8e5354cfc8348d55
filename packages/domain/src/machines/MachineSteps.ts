/**
 * One step of one claimed machine: do what its facts ask for, see what came of it, commit. Repeats while there is something
 * to do at once, then gives the claim back.
 *
 * Running it twice is harmless: every provider call is keyed by the machine's id, the intent to launch or stop is committed
 * before the call, and a commit without the claim writes nothing.
 */
import type { Redacted } from "effect"
import { Clock, Context, Effect, Layer } from "effect"
import { Signals } from "../database/Signals.ts"
import { MissingSince } from "./MissingSince.ts"
import { launchSpecOf } from "./LaunchSpecs.ts"
import * as Lifecycle from "./MachineLifecycle.ts"
import type { MachineFacts } from "./MachineLifecycle.ts"
import { MachineOwner } from "./MachineOwner.ts"
import { MachineProvider, type Observation } from "./MachineProvider.ts"
import type { ClaimedMachine } from "./MachineRow.ts"
import { MachineSecrets } from "./MachineSecrets.ts"
import { MachineStore } from "./MachineStore.ts"
import { Outputs } from "./Outputs.ts"

/** How long to wait before asking again for a machine that found no room, unless a machine ends before. */
const CAPACITY_RETRY_MS = 60_000
/** How long to wait after a provider gave no answer. */
const UNAVAILABLE_RETRY_MS = 2_000
/** How often to look at a machine whose provider cannot say when it changes. */
const LOOK_MS = 2_000
/** How often output is stored of a machine whose log nobody reads: so much of it is lost with a machine at most. */
const STORE_OUTPUT_MS = 60_000
/** Nothing is known to come: look again after this all the same. */
const IDLE_MS = 3_600_000
const NANOS_PER_MILLI = 1_000_000n
/** Commits of one step at most: launch, exit, stop and one to spare. */
const MAX_TURNS = 4

/** What the provider said to a launch. */
export type LaunchAnswer =
  | { readonly _tag: "Accepted" }
  | { readonly _tag: "NoCapacity" }
  | { readonly _tag: "Refused"; readonly reason: string }
  | { readonly _tag: "Unavailable" }

export interface StepOptions {
  /** The opened variables, where they are at hand; otherwise they are opened from the row. */
  readonly variables?: ReadonlyMap<string, Redacted.Redacted<string>>
  readonly onLaunch?: (answer: LaunchAnswer) => void
}

interface Outcome {
  readonly facts: MachineFacts
  readonly wakeAt: number
  readonly volumeBytes: number | null
  /** Output stored so far. */
  readonly outputBytes: number
}

export class MachineSteps extends Context.Service<
  MachineSteps,
  {
    /** Answers when the row wants to be looked at again (ms); never, when it is settled or the claim was lost. */
    readonly run: (machine: ClaimedMachine, options?: StepOptions) => Effect.Effect<number>
  }
>()("@sluice/domain/machines/MachineSteps") {
  static readonly layer = Layer.effect(
    MachineSteps,
    Effect.gen(function* () {
      const provider = yield* MachineProvider
      const store = yield* MachineStore
      const outputs = yield* Outputs
      const secrets = yield* MachineSecrets
      const owner = yield* MachineOwner
      const signals = yield* Signals
      const clock = yield* Clock.Clock
      const now = () => clock.currentTimeMillisUnsafe()
      const visibleWithinMs = provider.capabilities.visibleWithinMs
      const absences = new MissingSince(() => Number(clock.monotonicTimeNanosUnsafe() / NANOS_PER_MILLI))

      const absentMs = ({ id, facts }: ClaimedMachine, { _tag }: Observation["state"], at: number): number => {
        if (_tag === "Absent") return absences.missing(id, facts.absentSince ?? at)
        absences.forget(id)
        return 0
      }
      const seen = (machine: ClaimedMachine, observation: Observation): Outcome => {
        const { state } = observation
        const at = now()
        const look = { now: at, absentMs: absentMs(machine, state, at), visibleWithinMs }
        const after = Lifecycle.observed(machine.facts, state, look)
        return {
          facts: after,
          wakeAt: lookAgainAt(after, observation, now()),
          volumeBytes: state._tag === "Stopped" ? state.volumeBytes : null,
          outputBytes: machine.outputBytes
        }
      }
      const later = (machine: ClaimedMachine, facts: MachineFacts, ms: number): Outcome => ({
        facts,
        wakeAt: now() + ms,
        volumeBytes: null,
        outputBytes: machine.outputBytes
      })

      const launch = Effect.fnUntraced(function* (machine: ClaimedMachine, options: StepOptions) {
        const answer = options.onLaunch ?? (() => {})
        const variables = options.variables ?? (yield* Effect.orDie(secrets.open(machine)))
        return yield* provider.launch(launchSpecOf(machine, variables)).pipe(
          Effect.map((observation) => {
            answer({ _tag: "Accepted" })
            return seen(machine, observation)
          }),
          Effect.catchTags({
            NoCapacity: () => {
              answer({ _tag: "NoCapacity" })
              return Effect.succeed(later(machine, Lifecycle.noCapacity(machine.facts), CAPACITY_RETRY_MS))
            },
            LaunchRefused: ({ reason }) => {
              answer({ _tag: "Refused", reason })
              return Effect.succeed(later(machine, Lifecycle.refused(machine.facts, now(), reason), 0))
            },
            ProviderUnavailable: ({ cause }) => {
              answer({ _tag: "Unavailable" })
              return Effect.as(
                Effect.logWarning(`machine ${machine.id}: launch got no answer`, cause),
                later(machine, machine.facts, UNAVAILABLE_RETRY_MS)
              )
            }
          })
        )
      })

      /** Stop or look, and store what was written; the end of a machine is not believed before its output is stored. */
      const look = (machine: ClaimedMachine, action: "Stop" | "Observe") =>
        Effect.gen(function* () {
          if (action === "Stop") yield* provider.stop(machine.id)
          const outcome = seen(machine, yield* provider.observe(machine.id))
          const gone = Lifecycle.isGone(outcome.facts)
          // While it stops, what it still writes can wait for its end.
          if (outcome.facts.commandStartedAt === null || (action === "Stop" && !gone)) return outcome
          return { ...outcome, outputBytes: yield* outputs.drain(machine, machine.outputBytes, gone) }
        }).pipe(
          Effect.catchTag("ProviderUnavailable", ({ cause }) =>
            Effect.as(
              Effect.logWarning(`machine ${machine.id}: provider gave no answer`, cause),
              later(machine, machine.facts, UNAVAILABLE_RETRY_MS)
            )
          )
        )

      const commit = (machine: ClaimedMachine, outcome: Outcome, keep: boolean, durable: boolean) =>
        store.commit(
          {
            machine,
            facts: outcome.facts,
            keep,
            wakeAt: outcome.wakeAt,
            wakeJob: concernsJob(machine.facts, outcome.facts),
            volumeBytes: outcome.volumeBytes
          },
          durable
        )

      /** The bound within which a machine may be invisible counts from the last time that it was asked for. */
      const isToRecord = ({ requestedAt }: MachineFacts) =>
        requestedAt === null || (visibleWithinMs > 0 && now() - requestedAt >= UNAVAILABLE_RETRY_MS)

      const run = Effect.fnUntraced(function* (machine: ClaimedMachine, options: StepOptions = {}) {
        let current = machine
        for (let turn = 0; turn < MAX_TURNS; turn++) {
          const action = Lifecycle.next(current.facts)._tag
          if (action === "Settled") return Number.POSITIVE_INFINITY
          if (action === "Launch" && isToRecord(current.facts)) {
            // Asked before, and found no room or no answer: the intent is committed again before the next call.
            const asked = { ...current.facts, requestedAt: now() }
            const { committed } = yield* commit(current, later(current, asked, 0), true, true)
            if (!committed) return Number.POSITIVE_INFINITY
            current = { ...current, facts: asked }
          }
          const outcome = action === "Launch" ? yield* launch(current, options) : yield* look(current, action)
          const again = action !== "Stop" && Lifecycle.next(outcome.facts)._tag === "Stop"
          const {
            committed,
            owner: job,
            wakeAt
          } = yield* commit(current, outcome, again, Lifecycle.isGone(outcome.facts))
          if (!committed) return Number.POSITIVE_INFINITY
          if (job !== undefined) yield* owner.stepOwner(job, outcome.facts)
          if (Lifecycle.isGone(outcome.facts)) {
            signals.emit("capacity")
            absences.forget(current.id)
            // What is not released here, the sweep releases.
            yield* Effect.ignore(provider.release(current.id))
            return Number.POSITIVE_INFINITY
          }
          if (!again) return wakeAt
          current = { ...current, facts: outcome.facts, outputBytes: outcome.outputBytes }
        }
        return now()
      })

      return MachineSteps.of({ run })
    })
  )
}

/** The earliest moment at which a look can show something new. */
export const lookAgainAt = (facts: MachineFacts, observation: Observation, now: number): number => {
  const promised = (at: number | null) => (at === null ? null : now + Math.max(0, at - observation.at))
  const state = promised(observation.nextAt) ?? now + LOOK_MS
  if (facts.commandStartedAt === null || facts.exit !== null) return Math.min(state, now + IDLE_MS)
  const output = Math.max(promised(observation.nextOutputAt) ?? now, now + STORE_OUTPUT_MS)
  return Math.min(state, together(output), now + IDLE_MS)
}

/** Looks that nobody waits for come at the same moments, so that one statement serves many machines. */
const together = (at: number) => Math.ceil(at / STORE_OUTPUT_MS) * STORE_OUTPUT_MS

/** Whether the change is one that a job's status follows. */
const concernsJob = (before: MachineFacts, after: MachineFacts): boolean =>
  before.runningAt !== after.runningAt ||
  before.commandStartedAt !== after.commandStartedAt ||
  before.stoppedAt !== after.stoppedAt ||
  (before.status === "wanted" && after.status === "launching")
