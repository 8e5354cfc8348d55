/**
 * The jobs of a workspace: submit, quote, look, cancel (interface: POST /jobs; decisions: Jobs). The reconcilers do the rest.
 *
 * A submission is checked in the order that callers are promised: budget, everything that is wrong with the request, volume,
 * money, machines. What is recorded is recorded whole, with its money held and its launch asked for.
 */
import { Context, Crypto, Deferred, Effect, Layer, Option, Result } from "effect"
import type { Principal } from "../access/Principal.ts"
import { BudgetReached, CreditInsufficient } from "../billing/BillingErrors.ts"
import type { IdempotencyInProgress } from "../idempotency/Idempotency.ts"
import type { Attempt } from "../idempotency/Attempt.ts"
import { LedgerStore } from "../billing/LedgerStore.ts"
import type { Page, PageRequest } from "../database/Page.ts"
import { recoverDefect, isOutcomeUnknown } from "../database/StoreFailure.ts"
import { Signals } from "../database/Signals.ts"
import { Wakeups } from "../database/Wakeups.ts"
import { LAUNCH_SCRIPT_LIMIT_BYTES } from "../machines/LaunchScript.ts"
import type { Machine, MachineNotFound } from "../machines/Machine.ts"
import { MachineReconciler } from "../machines/MachineReconciler.ts"
import { Machines } from "../machines/Machines.ts"
import { MachineSecrets } from "../machines/MachineSecrets.ts"
import { Metrics } from "../metrics/Metrics.ts"
import { RequestInvalid } from "../requests/RequestInvalid.ts"
import { VolumeAttached, VolumeNotFound } from "../storage/Volume.ts"
import { VolumeStore } from "../storage/VolumeStore.ts"
import { isTerminal, type Job, type Quote } from "./Job.ts"
import { type Admission, JobAdmissionStore, type Admitted } from "./JobAdmissionStore.ts"
import { JobEnded, JobNotFound, JobOutcomeUnknown, LaunchFailed, MachinesUnavailable } from "./JobErrors.ts"
import { claimedMachine, draftOf, holdOf, queuedJob } from "./JobDrafts.ts"
import { type JobFilter, JobListStore } from "./JobListStore.ts"
import { JobStore } from "./JobStore.ts"
import { makeOffers } from "./Offers.ts"
import * as JobRequest from "./JobRequest.ts"
import { submitOrFind } from "./IdempotentSubmit.ts"

/** How long a submission waits for the provider's first answer: a refusal within it reaches the caller. */
const FIRST_ANSWER_MS = 2_000

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
    /** `attempt`: under an Idempotency-Key, so that what an earlier run made is neither made twice nor refused. */
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
      const admissions = yield* JobAdmissionStore
      const store = yield* JobStore
      const lists = yield* JobListStore
      const ledger = yield* LedgerStore
      const volumes = yield* VolumeStore
      const machines = yield* Machines
      const launches = yield* MachineReconciler
      const offers = yield* makeOffers
      const secrets = yield* MachineSecrets
      const signals = yield* Signals
      const wakeups = yield* Wakeups
      const crypto = yield* Crypto.Crypto
      const newId = Effect.orDie(crypto.randomUUIDv7())
      const created = (yield* Metrics).jobsCreated.of()

      /** What is asked for, checked against what there is. */
      const decode = Effect.fnUntraced(function* (body: unknown) {
        const { available, hasCapacity, offer } = yield* offers.current
        const decoded = JobRequest.decode(body, offer)
        if (Result.isFailure(decoded)) return yield* new RequestInvalid({ issues: decoded.failure })
        const { spec } = decoded.success
        const regions = offer.gpuTypes.find(({ id }) => id === spec.gpuType)?.regions ?? []
        return { ...decoded.success, available, regions, launch: hasCapacity(spec.gpuType, spec.gpuCount) }
      })

      /** The region of the volume decides where the machine runs. */
      const withVolume = Effect.fnUntraced(function* <
        R extends JobRequest.JobRequest & { readonly regions: ReadonlyArray<string> }
      >(principal: Principal, request: R) {
        if (request.volumeId === undefined) return request
        const volume = yield* volumes.get(principal, request.volumeId)
        if (volume === undefined) return yield* new VolumeNotFound({ id: request.volumeId })
        if (volume.attachedTo !== null) return yield* new VolumeAttached({ id: request.volumeId })
        if (request.spec.region !== null && request.spec.region !== volume.region) {
          const message = `must be ${volume.region}, where the volume is, or be left out`
          return yield* new RequestInvalid({ issues: [{ path: "region", message }] })
        }
        if (!request.regions.includes(volume.region)) {
          const message = `is in ${volume.region}, where there is no ${request.spec.gpuType}, only in ${request.regions.join(", ")}`
          return yield* new RequestInvalid({ issues: [{ path: "storage_id", message }] })
        }
        return { ...request, spec: { ...request.spec, region: volume.region } }
      })

      const existing = (principal: Principal, id: string) =>
        Effect.filterOrFail(
          lists.find(principal, id),
          (job) => job !== undefined,
          () => new JobNotFound({ id })
        )

      /** Waits until the job is terminal, as it will be soon: its machine was refused. */
      const ended = (principal: Principal, id: string): Effect.Effect<Job | undefined> =>
        Effect.scoped(
          Effect.gen(function* () {
            const changed = yield* Deferred.make<void>()
            yield* signals.listen(`job:${id}`, () => Deferred.doneUnsafe(changed, Effect.void))
            const job = yield* lists.find(principal, id)
            if (job === undefined || isTerminal(job.status)) return job
            yield* Effect.timeoutOption(Deferred.await(changed), FIRST_ANSWER_MS)
            return yield* lists.find(principal, id)
          })
        )

      const launched = Effect.fnUntraced(function* (
        principal: Principal,
        draft: Admission,
        admitted: Admitted,
        request: JobRequest.JobRequest
      ) {
        const answer = yield* launches.start(claimedMachine(draft, admitted.at), request.env)
        // A provider that answers at once costs no timer.
        const first = Deferred.isDoneUnsafe(answer)
          ? Option.some(yield* Deferred.await(answer))
          : yield* Effect.timeoutOption(Deferred.await(answer), FIRST_ANSWER_MS)
        if (Option.isSome(first) && first.value._tag === "Refused") {
          // It is told of, also where the store can't be looked into by now.
          yield* Effect.catchDefect(ended(principal, draft.jobId), () => Effect.void)
          return yield* new LaunchFailed({ jobId: draft.jobId, reason: first.value.reason })
        }
        return queuedJob(draft, admitted.at)
      })

      /** No machine can be asked for just now; that the money would not do either is said first. */
      const unavailable = Effect.fnUntraced(function* (principal: Principal, request: JobRequest.JobRequest) {
        const { available } = yield* ledger.funds(principal)
        const required = holdOf(request)
        if (required > available) return yield* new CreditInsufficient({ required, available })
        return yield* new MachinesUnavailable()
      })

      const submitOnce = Effect.fnUntraced(function* (principal: Principal, body: unknown, attempt?: Attempt) {
        const request = yield* withVolume(principal, yield* decode(body))
        if (!request.available) return yield* unavailable(principal, request)
        const jobId = attempt?.id ?? (yield* newId)
        const machineId = yield* newId
        const sealed = secrets.seal(machineId, request.env)
        const draft = draftOf(principal, request, { attempt, jobId, machineId, sealed })
        const admission = recoverDefect(
          admissions.admit(draft),
          isOutcomeUnknown,
          () => new JobOutcomeUnknown({ jobId, hasIdempotencyKey: attempt !== undefined })
        )
        const admitted = yield* admission.pipe(
          Effect.catchTags({
            BudgetReached: () => Effect.fail(new BudgetReached({ environmentName: principal.environmentName })),
            // Taken, or deleted, since it was looked at.
            VolumeAttached: () =>
              Effect.andThen(
                withVolume(principal, request),
                Effect.fail(new VolumeAttached({ id: request.volumeId ?? "" }))
              )
          })
        )
        if (admitted.repeated) return yield* Effect.orDie(existing(principal, jobId))
        created.add()
        return draft.launch ? yield* launched(principal, draft, admitted, request) : queuedJob(draft, admitted.at)
      })

      const submit = (principal: Principal, body: unknown, attempt?: Attempt) =>
        submitOrFind(attempt, (id) => lists.find(principal, id), submitOnce(principal, body, attempt))

      const quote = Effect.fn("Jobs.quote")(function* (principal: Principal, body: unknown) {
        const request = yield* withVolume(principal, yield* decode(body))
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
