/**
 * Maps failures of the domain to errors on the wire: code, message and details, in one table. Every message says what
 * to do. Texts of libraries, the database and upstreams never enter these messages.
 */
import { toUsd, usdText } from "@sluice/domain/billing/Money"
import type { ErrorCode } from "./InfraErrors.ts"
import type { InfraFailure } from "./InfraFailure.ts"

/** An error before it is written. `details` lacks the request's id, which every response adds. */
export interface WireError {
  readonly code: ErrorCode
  readonly message: string
  readonly details?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
}

export const wireErrorOf = (failure: InfraFailure): WireError =>
  (table[failure._tag] as (failure: InfraFailure) => WireError)(failure)

/** Returns the body of an error. */
export const errorText = (error: WireError, requestId: string): string =>
  JSON.stringify({
    error: { code: error.code, message: error.message, details: { ...error.details, request_id: requestId } }
  })

/** Invalid input, with all issues at once. `path` is dotted, and empty for the whole request. */
export const invalid = (issues: ReadonlyArray<{ readonly path: string; readonly message: string }>): WireError => {
  const first = issues[0]
  const where = first === undefined || first.path === "" ? "The request" : `\`${first.path}\``
  const more = issues.length > 1 ? ` (${issues.length} issues in all)` : ""
  const message = `${where} ${first?.message ?? "is not valid"}${more}. See details.issues.`
  return { code: "validation_error", message, details: { issues } }
}

const missing = (what: string, list: string) => (): WireError => ({
  code: "not_found",
  message: `There is no such ${what} here. GET /api/v1${list} lists the existing ones.`
})

const conflict = (message: string, details?: Readonly<Record<string, unknown>>): WireError => ({
  code: "conflict",
  message,
  ...(details === undefined ? {} : { details }),
  headers: { "x-should-retry": "false" }
})

const unavailable = (): WireError => ({
  code: "service_unavailable",
  message: "The machine provider is temporarily unavailable; nothing was created. Send the request again shortly.",
  headers: { "x-should-retry": "true", "retry-after": "5" }
})

const table: {
  readonly [Tag in InfraFailure["_tag"]]: (failure: Extract<InfraFailure, { readonly _tag: Tag }>) => WireError
} = {
  KeyInvalid: () => ({
    code: "unauthorized",
    message: "Send a valid, active API key as `Authorization: Bearer svc_live_...`.",
    headers: { "www-authenticate": "Bearer" }
  }),
  ScopeMissing: ({ scope }) => ({
    code: "forbidden",
    message: `This API key lacks the scope ${scope}. Use a key that has it.`,
    details: { scope }
  }),
  EnvironmentAmbiguous: () =>
    invalid([{ path: "environment", message: "differs from the header X-Environment; send one of the two" }]),
  EnvironmentNotFound: missing("environment", "/environments"),
  ApiKeyNotFound: missing("API key", "/api-keys"),
  JobNotFound: missing("job", "/jobs"),
  MachineNotFound: missing("instance", "/instances"),
  VolumeNotFound: missing("volume", "/storage"),
  RequestInvalid: ({ issues }) => invalid(issues),
  VolumeShrinks: ({ sizeGb }) =>
    invalid([{ path: "size_gb", message: `must be at least ${sizeGb}: volumes only grow` }]),
  BudgetReached: ({ environmentName }) => ({
    code: "BUDGET_REACHED",
    message:
      `The monthly budget of environment ${environmentName} is spent. Raise it with PATCH /api/v1/environments/{id}, ` +
      "or wait for the next UTC month."
  }),
  CreditInsufficient: ({ required, available }) => ({
    code: "insufficient_credits",
    message:
      `This needs ${usdText(required)} USD of available balance, and ${usdText(available)} USD is available. Add credit, or ask ` +
      "for less time or fewer GPUs.",
    details: { required_usd: toUsd(required), available_usd: toUsd(available) }
  }),
  VolumeAttached: () =>
    conflict("The volume is attached to another machine. Wait until that machine has stopped, or stop it."),
  VolumeBeingDeleted: () => ({
    code: "service_unavailable",
    message:
      "The volume that this request created is being deleted, and can't be created again before that is done. " +
      "Send the request again in a minute, or now with a new Idempotency-Key.",
    headers: { "x-should-retry": "true", "retry-after": "60" }
  }),
  VolumeNameTaken: ({ name }) => conflict(`A volume called ${name} exists in this environment. Choose another name.`),
  LimitReached: ({ kind, limit }) =>
    conflict(`The workspace has ${limit} ${kind}, which is the maximum. Delete one that is not in use.`),
  JobEnded: ({ status }) => conflict(`The job has ended already (${status}).`, { status }),
  IdempotencyMismatch: () => ({
    code: "idempotency_mismatch",
    message: "This Idempotency-Key was used for another request. Use a new key for a new request."
  }),
  IdempotencyInProgress: () => ({
    code: "idempotency_in_progress",
    message: "The first request with this Idempotency-Key is still running. Send it again in a moment.",
    headers: { "x-should-retry": "true", "retry-after": "1" }
  }),
  LaunchFailed: ({ jobId, reason }) => ({
    code: "internal_error",
    message: `The job failed, because its machine could not be launched: ${reason}. Submit it again.`,
    details: { job_id: jobId }
  }),
  JobOutcomeUnknown: ({ jobId, hasIdempotencyKey }) => ({
    code: "service_unavailable",
    message:
      "The connection to the database was lost while the job was being created, so it may exist. " +
      (hasIdempotencyKey
        ? "Send the request again shortly, with the same Idempotency-Key: that creates only one job."
        : `GET /api/v1/jobs/${jobId} shows in a moment whether it does. Send the request again only if that answers 404.`),
    details: { job_id: jobId },
    headers: { "x-should-retry": String(hasIdempotencyKey), "retry-after": "5" }
  }),
  MachinesUnavailable: unavailable,
  ProviderUnavailable: unavailable
}
