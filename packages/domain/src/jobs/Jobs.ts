/**
 * The jobs of a workspace: submit, quote, get, list, cancel (interface: POST /jobs; decisions: Jobs). `JobSubmission.ts` has
 * the steps of a submission; the reconcilers do the rest.
 */
import { Context, Effect, Layer } from "effect"
import type { Principal } from "../access/Principal.ts"
import type { BudgetReached, CreditInsufficient } from "../billing/BillingErrors.ts"
import { LedgerStore } from "../billing/LedgerStore.ts"
import type { Page, PageRequest } from "../database/Page.ts"
import { Wakeups } from "../database/Wakeups.ts"
import type { Attempt } from "../idempotency/Attempt.ts"
import type { IdempotencyInProgress } from "../idempotency/Idempotency.ts"
import { LAUNCH_SCRIPT_LIMIT_BYTES } from "../machines/LaunchScript.ts"
import type { Machine, MachineNotFound } from "../machines/Machine.ts"
import { Machines } from "../machines/Machines.ts"
import type { RequestInvalid } from "../requests/RequestInvalid.ts"
import type { VolumeAttached, VolumeNotFound } from "../storage/Volume.ts"
import { submitOrFind } from "./IdempotentSubmit.ts"
import { isTerminal, type Job, type Quote } from "./Job.ts"
import { holdOf } from "./JobDrafts.ts"
import type { JobOutcomeUnknown, LaunchFailed, MachinesUnavailable } from "./JobErrors.ts"
import { JobEnded, JobNotFound } from "./JobErrors.ts"
import { type JobFilter, JobListStore } from "./JobListStore.ts"
import { JobStore } from "./JobStore.ts"
import { makeRequestCheck, makeSubmit } from "./JobSubmission.ts"

export type { JobFilter }

export type Refused =
  | RequestInvalid
  | BudgetReached
  | VolumeNotFound
  | VolumeAttached
  | CreditInsufficient
  | MachinesUnavailable
  | LaunchFailed
  | JobOutcomeUnknown
  | IdempotencyInProgress

export class Jobs extends Context.Service<
  Jobs,
  {
    /** `attempt` comes with an Idempotency-Key: a job that an earlier run made is returned, not made twice. */
    readonly submit: (principal: Principal, body: unknown, attempt?: Attempt) => Effect.Effect<Job, Refused>
    readonly quote: (
      principal: Principal,
      body: unknown
    ) => Effect.Effect<Quote, RequestInvalid | VolumeNotFound | VolumeAttached | MachinesUnavailable>
    readonly get: (principal: Principal, id: string) => Effect.Effect<Job, JobNotFound>
    readonly list: (principal: Principal, filter: JobFilter, page: PageRequest) => Effect.Effect<Page<Job>>
    readonly cancel: (principal: Principal, id: string) => Effect.Effect<Job, JobNotFound | JobEnded>
    /** Cancels the job of a machine (interface: Job status, "machine was stopped from the instances area"); one that ends stays as it is. */
    readonly stopMachine: (principal: Principal, machineId: string) => Effect.Effect<Machine, MachineNotFound>
  }
>()("@sluice/domain/jobs/Jobs") {
  static readonly layer = Layer.effect(
    Jobs,
    Effect.gen(function* () {
      const store = yield* JobStore
      const lists = yield* JobListStore
      const ledger = yield* LedgerStore
      const machines = yield* Machines
      const wakeups = yield* Wakeups
      const requests = yield* makeRequestCheck
      const submitOnce = yield* makeSubmit(requests)

      const submit = (principal: Principal, body: unknown, attempt?: Attempt) =>
        submitOrFind(attempt, (id) => lists.find(principal, id), submitOnce(principal, body, attempt))

      const quote = Effect.fn("Jobs.quote")(function* (principal: Principal, body: unknown) {
        const request = yield* requests.check(principal, body)
        const funds = yield* ledger.funds(principal)
        const maxCost = holdOf(request)
        return {
          price: request.price,
          maxCost,
          available: funds.available,
          budgetRemaining: funds.budgetRemaining,
          affordable: maxCost <= funds.available && !funds.budgetReached,
          launchScriptBytes: request.launchScriptBytes,
          launchScriptLimitBytes: LAUNCH_SCRIPT_LIMIT_BYTES
        }
      })

      const existing = (principal: Principal, id: string) =>
        Effect.filterOrFail(
          lists.find(principal, id),
          (job) => job !== undefined,
          () => new JobNotFound({ id })
        )

      const get = Effect.fn("Jobs.get")(existing)

      const askToStop = (id: string, reason: "cancelled_by_user" | "instance_stopped") =>
        Effect.andThen(store.stop(id, reason), wakeups.announce("machines", "jobs", `job:${id}`))

      const cancel = Effect.fn("Jobs.cancel")(function* (principal: Principal, id: string) {
        const job = yield* existing(principal, id)
        if (job.status === "cancelled") return job
        if (isTerminal(job.status)) return yield* new JobEnded({ id, status: job.status })
        yield* askToStop(id, "cancelled_by_user")
        const after = yield* existing(principal, id)
        // It ended by itself in the same moment.
        if (isTerminal(after.status) && after.status !== "cancelled")
          return yield* new JobEnded({ id, status: after.status })
        return after
      })

      const stopMachine = Effect.fn("Jobs.stopMachine")(function* (principal: Principal, machineId: string) {
        const { jobId } = yield* machines.get(principal, machineId)
        if (jobId === null) return yield* Effect.die(new Error(`machine ${machineId} has no job`))
        yield* askToStop(jobId, "instance_stopped")
        return yield* machines.get(principal, machineId)
      })

      return Jobs.of({ submit, quote, get, list: lists.list, cancel, stopMachine })
    })
  )
}
