/**
 * Moves every job to the state that follows from its machine, its limits and its money (`JobLifecycle`).
 *
 * The reconciler wakes when the job's machine or a caller changed something, at the next known time (deadline, end of
 * the hold, cost ceiling), and by poll. A step calls no provider and is idempotent: a second run decides the same, and
 * only one claim commits.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { SETUP_ALLOWANCE_MINUTES } from "../billing/Ledger.ts"
import { HoldStore } from "../billing/HoldStore.ts"
import { costOf } from "../billing/Money.ts"
import * as Reconciler from "../database/Reconciler.ts"
import { rowsOf } from "../database/RowDecoder.ts"
import { Signals } from "../database/Signals.ts"
import { isTerminal, terminalStatuses } from "./Job.ts"
import { decide } from "./JobLifecycle.ts"
import { MachineOwner } from "../machines/MachineOwner.ts"
import { Metrics } from "../metrics/Metrics.ts"
import { type ClaimedJob, JobRow, stateOf, termsOf } from "./JobRow.ts"
import { JobStore } from "./JobStore.ts"

const ownerRows = rowsOf("MachineStore", JobRow)

const SLOTS = 128
/** The hold is raised by the cost of this time, which is the set-up time that every job is granted (ms). */
const EXTENSION_MS = SETUP_ALLOWANCE_MINUTES * 60_000

export class JobReconciler extends Context.Service<
  JobReconciler,
  {
    readonly tick: Effect.Effect<number>
    readonly run: Effect.Effect<never>
    /** Steps a job that is already claimed. */
    readonly stepClaimed: (row: ClaimedJob) => Effect.Effect<void>
  }
>()("@sluice/domain/jobs/JobReconciler") {
  static readonly layer = Layer.effect(
    JobReconciler,
    Effect.gen(function* () {
      const store = yield* JobStore
      const holds = yield* HoldStore
      const signals = yield* Signals
      const { jobsEnded } = yield* Metrics
      for (const status of terminalStatuses) jobsEnded.of(status)
      const clock = yield* Clock.Clock

      /**
       * Decides the next state. If the hold is used up, raises the hold as far as the balance allows, and decides
       * again.
       */
      const decideWithFunds = Effect.fnUntraced(function* (row: ClaimedJob, now: number) {
        const { machine } = row
        const terms = termsOf(row)
        const hold = row.hold ?? 0n
        const first = decide(stateOf(row), machine, terms, { hold, exhausted: false }, now)
        if (first.settle !== null && first.settle > hold && row.hold !== null) {
          const raised = yield* holds.extend(row.id, first.settle)
          return { decision: first, hold: raised }
        }
        if (!first.needsFunds || machine.runningAt === null) return { decision: first, hold }
        const target = costOf(terms.price, now - machine.runningAt + EXTENSION_MS)
        const raised = yield* holds.extend(row.id, target)
        const second = decide(stateOf(row), machine, terms, { hold: raised, exhausted: raised <= hold }, now)
        return { decision: second, hold: raised }
      })

      const step = Effect.fnUntraced(function* (row: ClaimedJob) {
        const now = clock.currentTimeMillisUnsafe()
        const { decision, hold } = yield* decideWithFunds(row, now)
        const { committed, limited, wakeAt } = yield* store.commit({
          row: { ...row, hold },
          state: decision.state,
          stopMachine: decision.stopMachine,
          settle: decision.settle,
          wakeAt: decision.wakeAt
        })
        if (!committed) return
        if (isTerminal(decision.state.status)) jobsEnded.of(decision.state.status).add()
        else reconciler.alarm(wakeAt)
        if (decision.stopMachine) signals.emit("machines")
        if (limited) signals.emit("budgets")
        signals.emit(`job:${row.id}`)
      })

      const reconciler: Reconciler.Reconciler<ClaimedJob> = yield* Reconciler.make<ClaimedJob>({
        name: "jobs",
        slots: SLOTS,
        claim: store.claim,
        renew: store.renew,
        step
      })
      yield* signals.listen("jobs", reconciler.signal)
      return JobReconciler.of({
        tick: reconciler.tick,
        run: reconciler.run,
        stepClaimed: (row) => reconciler.stepClaimed(row, step(row))
      })
    })
  )

  /** Steps a job with its machine's new facts, right after the commit that wrote them. */
  static readonly layerOwner = Layer.effect(
    MachineOwner,
    Effect.map(JobReconciler, (reconciler) =>
      MachineOwner.of({
        // The row comes from `jobs`, the only table whose rows own machines.
        stepOwner: (owner, machine) =>
          Effect.suspend(() => {
            const [row] = ownerRows([owner])
            return row === undefined ? Effect.void : reconciler.stepClaimed({ ...row, machine })
          })
      })
    )
  )
}
