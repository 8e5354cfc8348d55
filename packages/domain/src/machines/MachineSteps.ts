/**
 * One step of a claimed machine: executes the next action of its facts, observes the result and commits it. Repeats
 * while there is an action that can be executed at once, then releases the claim.
 *
 * A step is idempotent: every provider call has the machine's id as its key, the intent to launch or to stop is
 * committed before the call, and a commit without the claim writes nothing.
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

/** Pause before a machine without capacity is requested again (ms), unless another machine ends before. */
const CAPACITY_RETRY_MS = 60_000
/** Pause after the provider gave no answer (ms). */
const UNAVAILABLE_RETRY_MS = 2_000
/** Poll interval for a machine whose provider cannot say when it changes (ms). */
const LOOK_MS = 2_000
/**
 * Interval at which the output of a machine without a live reader is stored (ms). A machine that is lost takes at most
 * the output of this time with it.
 */
const STORE_OUTPUT_MS = 60_000
/** Poll interval for a machine that is not expected to change (ms). */
const IDLE_MS = 3_600_000
const NANOS_PER_MILLI = 1_000_000n
/** Maximum commits of one step: launch, exit, stop and one to spare. */
const MAX_TURNS = 4

/** The provider's answer to a launch. */
export type LaunchAnswer =
  | { readonly _tag: "Accepted" }
  | { readonly _tag: "NoCapacity" }
  | { readonly _tag: "Refused"; readonly reason: string }
  | { readonly _tag: "Unavailable" }

export interface StepOptions {
  /** The decrypted variables, if the caller has them; otherwise they are opened from the row. */
  readonly variables?: ReadonlyMap<string, Redacted.Redacted<string>>
  readonly onLaunch?: (answer: LaunchAnswer) => void
}

interface Outcome {
  readonly facts: MachineFacts
  readonly wakeAt: number
  readonly volumeBytes: number | null
  /** Bytes of output stored so far. */
  readonly outputBytes: number
}

export class MachineSteps extends Context.Service<
  MachineSteps,
  {
    /** Returns the time of the next step (ms); Infinity if the machine is gone or the claim was lost. */
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
      const missingSince = new MissingSince(() => Number(clock.monotonicTimeNanosUnsafe() / NANOS_PER_MILLI))

      const absentMs = ({ id, facts }: ClaimedMachine, { _tag }: Observation["state"], at: number): number => {
        if (_tag === "Absent") return missingSince.missingMs(id, facts.absentSince ?? at)
        missingSince.forget(id)
        return 0
      }
      const afterLook = (machine: ClaimedMachine, observation: Observation): Outcome => {
        const { state } = observation
        const at = now()
        const look = { now: at, absentMs: absentMs(machine, state, at), visibleWithinMs }
        const after = Lifecycle.afterObservation(machine.facts, state, look)
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
            return afterLook(machine, observation)
          }),
          Effect.catchTags({
            NoCapacity: () => {
              answer({ _tag: "NoCapacity" })
              return Effect.succeed(later(machine, Lifecycle.afterNoCapacity(machine.facts), CAPACITY_RETRY_MS))
            },
            LaunchRefused: ({ reason }) => {
              answer({ _tag: "Refused", reason })
              return Effect.succeed(later(machine, Lifecycle.afterRefusal(machine.facts, now(), reason), 0))
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

      /** Stops or observes the machine, and stores its output. The machine is gone only after its output is stored. */
      const look = (machine: ClaimedMachine, action: "Stop" | "Observe") =>
        Effect.gen(function* () {
          if (action === "Stop") yield* provider.stop(machine.id)
          const outcome = afterLook(machine, yield* provider.observe(machine.id))
          const isGone = Lifecycle.isGone(outcome.facts)
          // While the machine stops, its output can wait until its end.
          if (outcome.facts.commandStartedAt === null || (action === "Stop" && !isGone)) return outcome
          return { ...outcome, outputBytes: yield* outputs.drain(machine, machine.outputBytes, isGone) }
        }).pipe(
          Effect.catchTag("ProviderUnavailable", ({ cause }) =>
            Effect.as(
              Effect.logWarning(`machine ${machine.id}: provider gave no answer`, cause),
              later(machine, machine.facts, UNAVAILABLE_RETRY_MS)
            )
          )
        )

      const commit = (machine: ClaimedMachine, outcome: Outcome, keepClaim: boolean, durable: boolean) =>
        store.commit(
          {
            machine,
            facts: outcome.facts,
            keep: keepClaim,
            wakeAt: outcome.wakeAt,
            wakeJob: concernsJob(machine.facts, outcome.facts),
            volumeBytes: outcome.volumeBytes
          },
          durable
        )

      /**
       * `requestedAt` must be recent, because the time for which a machine may be invisible starts at the last launch
       * request.
       */
      const isToRecord = ({ requestedAt }: MachineFacts) =>
        requestedAt === null || (visibleWithinMs > 0 && now() - requestedAt >= UNAVAILABLE_RETRY_MS)

      const run = Effect.fnUntraced(function* (machine: ClaimedMachine, options: StepOptions = {}) {
        let current = machine
        for (let turn = 0; turn < MAX_TURNS; turn++) {
          const action = Lifecycle.nextAction(current.facts)._tag
          if (action === "Settled") return Number.POSITIVE_INFINITY
          if (action === "Launch" && isToRecord(current.facts)) {
            // A launch was requested before, and found no capacity or got no answer: the intent is committed again
            // before the next call.
            const requested = { ...current.facts, requestedAt: now() }
            const { committed } = yield* commit(current, later(current, requested, 0), true, true)
            if (!committed) return Number.POSITIVE_INFINITY
            current = { ...current, facts: requested }
          }
          const outcome = action === "Launch" ? yield* launch(current, options) : yield* look(current, action)
          const hasNextAction = action !== "Stop" && Lifecycle.nextAction(outcome.facts)._tag === "Stop"
          const {
            committed,
            owner: job,
            wakeAt
          } = yield* commit(current, outcome, hasNextAction, Lifecycle.isGone(outcome.facts))
          if (!committed) return Number.POSITIVE_INFINITY
          if (job !== undefined) yield* owner.stepOwner(job, outcome.facts)
          if (Lifecycle.isGone(outcome.facts)) {
            signals.emit("capacity")
            missingSince.forget(current.id)
            // The sweep releases a machine whose release fails here.
            yield* Effect.ignore(provider.release(current.id))
            return Number.POSITIVE_INFINITY
          }
          if (!hasNextAction) return wakeAt
          current = { ...current, facts: outcome.facts, outputBytes: outcome.outputBytes }
        }
        return now()
      })

      return MachineSteps.of({ run })
    })
  )
}

/** Returns the earliest time at which an observation can show a change (ms). */
export const lookAgainAt = (facts: MachineFacts, observation: Observation, now: number): number => {
  const onOwnClock = (at: number | null) => (at === null ? null : now + Math.max(0, at - observation.at))
  const state = onOwnClock(observation.nextAt) ?? now + LOOK_MS
  if (facts.commandStartedAt === null || facts.exit !== null) return Math.min(state, now + IDLE_MS)
  const output = Math.max(onOwnClock(observation.nextOutputAt) ?? now, now + STORE_OUTPUT_MS)
  return Math.min(state, roundUp(output), now + IDLE_MS)
}

/** Rounds up to a common interval, so that machines without a deadline are stepped together and share statements. */
const roundUp = (at: number) => Math.ceil(at / STORE_OUTPUT_MS) * STORE_OUTPUT_MS

/** Returns whether the change can change the status of the machine's job. */
const concernsJob = (before: MachineFacts, after: MachineFacts): boolean =>
  before.runningAt !== after.runningAt ||
  before.commandStartedAt !== after.commandStartedAt ||
  before.stoppedAt !== after.stoppedAt ||
  (before.status === "wanted" && after.status === "launching")
