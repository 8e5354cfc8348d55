/** Drafts of a job and its machine: the recorded values, and both resources as they are after the admission, without a query. */
import { serviceVariables } from "./ServiceVariables.ts"
import type { Principal } from "../access/Principal.ts"
import { SETUP_ALLOWANCE_MINUTES } from "../billing/Ledger.ts"
import type { NanoUsd } from "../billing/Money.ts"
import { costOf } from "../billing/Money.ts"
import type { ClaimedMachine, StoredSpec } from "../machines/MachineRow.ts"
import type { Job, JobSpec } from "./Job.ts"
import type { Admission } from "./JobAdmissionStore.ts"
import type { JobRequest } from "./JobRequest.ts"
import { wantedFacts } from "../machines/MachineLifecycle.ts"

const MINUTE_MS = 60_000

/** The launch spec of a job's machine. Fields are named one by one, because the job's other terms do not concern the machine. */
const machineSpecOf = (spec: JobSpec, variables: StoredSpec["variables"]): StoredSpec => ({
  gpuType: spec.gpuType,
  gpuCount: spec.gpuCount,
  template: spec.template,
  image: spec.image,
  region: spec.region,
  command: spec.command,
  variables,
  maxRuntimeMs: spec.maxRuntimeMinutes * MINUTE_MS
})

/** The hold of a job: the price of its machine for the maximum runtime and the set-up (decisions: "Balance cannot cover the job"). */
export const holdOf = (request: Pick<JobRequest, "price" | "spec">): NanoUsd =>
  costOf(request.price, (request.spec.maxRuntimeMinutes + SETUP_ALLOWANCE_MINUTES) * MINUTE_MS)

/** Returns every recorded value of a submitted job. `sealed`: its variables, which only its machine can open. */
export const draftOf = (
  principal: Principal,
  request: JobRequest & { readonly launch: boolean },
  { attempt, jobId, machineId, sealed }: Pick<Admission, "attempt" | "jobId" | "machineId" | "sealed">
): Admission => {
  const name = request.name ?? `job-${jobId.slice(0, 8)}`
  const variables = serviceVariables(jobId, name, principal.environmentName, request.spec)
  return {
    jobId,
    machineId,
    workspaceId: principal.workspaceId,
    environmentId: principal.environmentId,
    environmentName: principal.environmentName,
    volumeId: request.volumeId,
    name,
    spec: request.spec,
    machineSpec: machineSpecOf(request.spec, variables),
    labels: request.labels,
    sealed,
    price: request.price,
    hold: holdOf(request),
    launch: request.launch,
    attempt
  }
}

/** The machine as recorded at `at`: claimed, with the intent to launch. */
export const claimedMachine = (draft: Admission, at: number): ClaimedMachine => ({
  id: draft.machineId,
  workspaceId: draft.workspaceId,
  jobId: draft.jobId,
  volumeId: draft.volumeId ?? null,
  spec: draft.machineSpec,
  sealed: draft.sealed,
  facts: wantedFacts(at),
  outputBytes: 0,
  fence: 1n,
  events: 0n
})

/** The job as it was recorded at `at`: queued. */
export const queuedJob = (draft: Admission, at: number): Job => ({
  id: draft.jobId,
  name: draft.name,
  status: "queued",
  spec: draft.spec,
  volumeId: draft.volumeId ?? null,
  labels: draft.labels,
  machineId: draft.machineId,
  machineExists: false,
  environmentId: draft.environmentId,
  price: draft.price,
  createdAt: new Date(at),
  startedAt: null,
  endedAt: null,
  cancelRequestedAt: null,
  exitCode: null,
  error: null,
  statusReason: null,
  cost: null,
  outputBytes: 0
})
