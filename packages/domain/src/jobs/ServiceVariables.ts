/** The `SERVICE_` variables of a job's machine (decisions: Jobs). */
import type { JobSpec } from "./Job.ts"

/** Names of the variables that every job's machine gets (decisions: Jobs). The launch script contains all of them. */
export const SERVICE_NAMES = [
  "SERVICE_JOB_ID",
  "SERVICE_JOB_NAME",
  "SERVICE_ENVIRONMENT",
  "SERVICE_GPU_TYPE",
  "SERVICE_GPU_COUNT"
] as const

export const serviceVariables = (
  jobId: string,
  name: string,
  environmentName: string,
  spec: JobSpec
): Readonly<Record<(typeof SERVICE_NAMES)[number], string>> => ({
  SERVICE_JOB_ID: jobId,
  SERVICE_JOB_NAME: name,
  SERVICE_ENVIRONMENT: environmentName,
  SERVICE_GPU_TYPE: spec.gpuType,
  SERVICE_GPU_COUNT: String(spec.gpuCount)
})
