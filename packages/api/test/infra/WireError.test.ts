/** Failures on the wire: status, code, details, and whether a client may retry (decisions: common rules). */
import { describe, expect, it } from "@effect/vitest"
import { errorCodes } from "@sluice/api/infra/InfraErrors"
import type { InfraFailure } from "@sluice/api/infra/InfraFailure"
import { wireErrorOf } from "@sluice/api/infra/WireError"

type Tag = InfraFailure["_tag"]
type Facts<T extends Tag> = Partial<Extract<InfraFailure, { readonly _tag: T }>>
type Told = readonly [status: number, code: string, details?: object]

const table: { readonly [T in Tag]: readonly [Facts<T>, ...Told] } = {
  KeyInvalid: [{}, 401, "unauthorized"],
  ScopeMissing: [{ scope: "jobs:write" }, 403, "forbidden", { scope: "jobs:write" }],
  EnvironmentAmbiguous: [
    {},
    422,
    "validation_error",
    { issues: [{ path: "environment", message: expect.stringContaining("X-Environment") }] }
  ],
  EnvironmentNotFound: [{}, 404, "not_found"],
  ApiKeyNotFound: [{}, 404, "not_found"],
  JobNotFound: [{}, 404, "not_found"],
  MachineNotFound: [{}, 404, "not_found"],
  VolumeNotFound: [{}, 404, "not_found"],
  RequestInvalid: [
    { issues: [{ path: "a", message: "b" }] },
    422,
    "validation_error",
    { issues: [{ path: "a", message: "b" }] }
  ],
  VolumeShrinks: [
    { sizeGb: 5 },
    422,
    "validation_error",
    { issues: [{ path: "size_gb", message: "must be at least 5: volumes only grow" }] }
  ],
  BudgetReached: [{ environmentName: "default" }, 402, "BUDGET_REACHED"],
  CreditInsufficient: [
    { required: 2_500_000_000n, available: 1n },
    402,
    "insufficient_credits",
    { required_usd: 2.5, available_usd: 1e-9 }
  ],
  VolumeAttached: [{}, 409, "conflict"],
  VolumeBeingDeleted: [{}, 503, "service_unavailable"],
  VolumeNameTaken: [{ name: "v" }, 409, "conflict"],
  LimitReached: [{ kind: "volumes", limit: 1_000 }, 409, "conflict"],
  JobEnded: [{ status: "failed" }, 409, "conflict", { status: "failed" }],
  IdempotencyMismatch: [{}, 422, "idempotency_mismatch"],
  IdempotencyInProgress: [{}, 409, "idempotency_in_progress"],
  LaunchFailed: [{ jobId: "j", reason: "no" }, 500, "internal_error", { job_id: "j" }],
  JobOutcomeUnknown: [{ jobId: "j", hasIdempotencyKey: true }, 503, "service_unavailable", { job_id: "j" }],
  MachinesUnavailable: [{}, 503, "service_unavailable"],
  ProviderUnavailable: [{}, 503, "service_unavailable"]
}

describe("A failure on the wire", () => {
  for (const [tag, [facts, status, code, details]] of Object.entries(table)) {
    it(`${tag} is a ${status} ${code}`, () => {
      const answer = wireErrorOf({ _tag: tag, ...facts } as InfraFailure)
      expect([errorCodes[answer.code], answer.code, answer.details]).toEqual([status, code, details])
      const { headers = {} } = answer
      const mayTryAgain = status === 503 || code === "idempotency_in_progress"
      expect(headers["x-should-retry"]).toBe(mayTryAgain ? "true" : status === 409 ? "false" : undefined)
      expect(Number(headers["retry-after"]) >= 1).toBe(mayTryAgain)
      expect(headers["www-authenticate"]).toBe(status === 401 ? "Bearer" : undefined)
    })
  }
})

it("a job with an unknown outcome is retried under its key alone, else looked up", () => {
  const [hasIdempotencyKey, plain] = [true, false].map((hasIdempotencyKey) =>
    wireErrorOf({ _tag: "JobOutcomeUnknown", jobId: "j", hasIdempotencyKey } as InfraFailure)
  )
  expect(hasIdempotencyKey?.message).toContain("Idempotency-Key")
  expect(plain).toMatchObject({
    message: expect.stringContaining("GET /api/v1/jobs/j "),
    headers: { "x-should-retry": "false" }
  })
})
