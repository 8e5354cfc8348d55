/**
 * Submits a job, from its body to the provider's first answer.
 *
 * Checks run in the order that callers are promised: all issues of the request, the volume, the supply of machines, then the
 * refusals of the store. One statement records the job, its hold and the intent to launch.
 */
import { Crypto, Deferred, Effect, Option, Result } from "effect"
import type { Principal } from "../access/Principal.ts"
import { CreditInsufficient } from "../billing/BillingErrors.ts"
import { LedgerStore } from "../billing/LedgerStore.ts"
import { Signals } from "../database/Signals.ts"
import { isOutcomeUnknown, recoverDefect } from "../database/StoreFailure.ts"
import type { Attempt } from "../idempotency/Attempt.ts"
import { MachineReconciler } from "../machines/MachineReconciler.ts"
import { MachineSecrets } from "../machines/MachineSecrets.ts"
import { Metrics } from "../metrics/Metrics.ts"
import { RequestInvalid } from "../requests/RequestInvalid.ts"
import { VolumeAttached, VolumeNotFound } from "../storage/Volume.ts"
import { VolumeStore } from "../storage/VolumeStore.ts"
import { isTerminal, type Job } from "./Job.ts"
import { type Admission, type Admitted, JobAdmissionStore } from "./JobAdmissionStore.ts"
import { claimedMachine, draftOf, holdOf, queuedJob } from "./JobDrafts.ts"
import { JobNotFound, JobOutcomeUnknown, LaunchFailed, MachinesUnavailable } from "./JobErrors.ts"
import { JobListStore } from "./JobListStore.ts"
import * as JobRequest from "./JobRequest.ts"
import { makeOffers } from "./Offers.ts"

/** Milliseconds that a submission waits for the provider's first answer. A refusal within this time reaches the caller. */
const FIRST_ANSWER_MS = 2_000

/** A request that passed its checks. `available`: the supply is known. `launch`: there is capacity for its machine. */
interface CheckedRequest extends JobRequest.JobRequest {
  readonly available: boolean
  readonly launch: boolean
  /** The regions of its GPU type. */
  readonly regions: ReadonlyArray<string>
}

/** Checks a body against the supply, and its volume, whose region decides where the machine runs. */
export const makeRequestCheck = Effect.gen(function* () {
  const offers = yield* makeOffers
  const volumes = yield* VolumeStore

  const decode = Effect.fnUntraced(function* (body: unknown) {
    const { available, hasCapacity, offer } = yield* offers.current
    const decoded = JobRequest.decode(body, offer)
    if (Result.isFailure(decoded)) return yield* new RequestInvalid({ issues: decoded.failure })
    const { spec } = decoded.success
    const regions = offer.gpuTypes.find(({ id }) => id === spec.gpuType)?.regions ?? []
    const request: CheckedRequest = {
      ...decoded.success,
      available,
      regions,
      launch: hasCapacity(spec.gpuType, spec.gpuCount)
    }
    return request
  })

  const withVolume = Effect.fnUntraced(function* (principal: Principal, request: CheckedRequest) {
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

  const check = (principal: Principal, body: unknown) =>
    Effect.flatMap(decode(body), (request) => withVolume(principal, request))
  return { check, withVolume }
})

type RequestCheck = Effect.Success<typeof makeRequestCheck>

/** Launches the machine of a recorded job while the caller waits. Fails with `LaunchFailed` if the provider refuses it. */
const makeLaunch = Effect.gen(function* () {
  const launches = yield* MachineReconciler
  const lists = yield* JobListStore
  const signals = yield* Signals

  /** Waits until the job is terminal, which is soon, because its machine was refused. */
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

  return Effect.fnUntraced(function* (
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
      // The refusal reaches the caller also where the store is unavailable by now.
      yield* Effect.catchDefect(ended(principal, draft.jobId), () => Effect.void)
      return yield* new LaunchFailed({ jobId: draft.jobId, reason: first.value.reason })
    }
    return queuedJob(draft, admitted.at)
  })
})

/** Records a submission and launches its machine. A repeated attempt returns the job of its first run. */
export const makeSubmit = Effect.fnUntraced(function* ({ check, withVolume }: RequestCheck) {
  const admissions = yield* JobAdmissionStore
  const lists = yield* JobListStore
  const ledger = yield* LedgerStore
  const secrets = yield* MachineSecrets
  const newId = Effect.orDie((yield* Crypto.Crypto).randomUUIDv7())
  const created = (yield* Metrics).jobsCreated.of()
  const launch = yield* makeLaunch

  /** Fails because the supply is unknown. A balance that is too low is reported first. */
  const unavailable = Effect.fnUntraced(function* (principal: Principal, request: CheckedRequest) {
    const { available } = yield* ledger.funds(principal)
    const required = holdOf(request)
    if (required > available) return yield* new CreditInsufficient({ required, available })
    return yield* new MachinesUnavailable()
  })

  const admit = (principal: Principal, request: CheckedRequest, draft: Admission) =>
    recoverDefect(
      admissions.admit(draft),
      isOutcomeUnknown,
      () => new JobOutcomeUnknown({ jobId: draft.jobId, hasIdempotencyKey: draft.attempt !== undefined })
    ).pipe(
      // The volume was attached or deleted since the check. The second check reports which.
      Effect.catchTag("VolumeAttached", (taken) => Effect.andThen(withVolume(principal, request), Effect.fail(taken)))
    )

  return Effect.fnUntraced(function* (principal: Principal, body: unknown, attempt?: Attempt) {
    const request = yield* check(principal, body)
    if (!request.available) return yield* unavailable(principal, request)
    const jobId = attempt?.id ?? (yield* newId)
    const machineId = yield* newId
    const sealed = secrets.seal(machineId, request.env)
    const draft = draftOf(principal, request, { attempt, jobId, machineId, sealed })
    const admitted = yield* admit(principal, request, draft)
    if (admitted.repeated) {
      const earlier = yield* lists.find(principal, jobId)
      return earlier ?? (yield* Effect.die(new JobNotFound({ id: jobId })))
    }
    created.add()
    return draft.launch ? yield* launch(principal, draft, admitted, request) : queuedJob(draft, admitted.at)
  })
})
