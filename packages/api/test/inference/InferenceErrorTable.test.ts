/** Errors of model servers as callers see them: whether a retry may help, and otherwise what to do. */
import { expect, it } from "@effect/vitest"
import { inferenceErrorOf } from "@sluice/api/inference/InferenceErrorTable"
import { CreditInsufficient } from "@sluice/domain/billing/BillingErrors"
import { UpstreamFailed } from "@sluice/domain/models/UpstreamFailed"
import { VideoOutcomeUnknown, VideoWithheld } from "@sluice/domain/videos/Video"

const told = (reason: UpstreamFailed["reason"]) => inferenceErrorOf(new UpstreamFailed({ reason }))

it("a moderated video is not a bad request, and names no field of a chat", () => {
  const withheld = inferenceErrorOf(new VideoWithheld())
  expect(withheld).toEqual({ ...told("unserved"), message: withheld.message })
  expect([withheld.status, withheld.code, withheld.headers]).toEqual([
    502,
    "upstream_refused",
    { "x-should-retry": "false" }
  ])
  expect(withheld.message).toContain("video")
  expect(withheld.message).not.toContain("response_format")
})

it("an inference error asks for a retry only where that may help", () => {
  for (const [reason, code] of [
    ["unserved", "upstream_refused"],
    ["denied", "upstream_denied"],
    ["forbidden", "upstream_forbidden"]
  ] as const) {
    expect(told(reason)).toMatchObject({ status: 502, code, headers: { "x-should-retry": "false" } })
    expect(told(reason).message).not.toContain("ry again")
  }
  for (const reason of ["broken", "overloaded", "timeout"] as const) {
    expect(told(reason).headers ?? {}).not.toHaveProperty("x-should-retry")
    expect(told(reason).message).toContain("ry again")
  }
})

it("an inference error has the Retry-After of the model servers, or a short one", () => {
  expect(told("overloaded").headers).toEqual({ "retry-after": "5" })
  const error = inferenceErrorOf(new UpstreamFailed({ reason: "overloaded", retryAfterSeconds: 21 }))
  expect(error).toEqual({
    ...told("overloaded"),
    message: "The model has more requests than it can answer. Try again in 21 s.",
    headers: { "retry-after": "21" }
  })
})

it("a request that a model's server refuses is the caller's error", () => {
  for (const [reason, status] of [
    ["refused", 400],
    ["too_large", 413]
  ] as const) {
    expect(told(reason)).toMatchObject({
      status,
      type: "invalid_request_error",
      code: "upstream_refused",
      param: null,
      message: expect.stringMatching(/^The model's server refused this request/)
    })
  }
})

it("a request too long for a model's server gets the server's own error, without a length that may be wrong", () => {
  expect(told("too_long")).toMatchObject({
    status: 400,
    type: "invalid_request_error",
    code: "context_length_exceeded",
    message: expect.stringMatching(/^This model's maximum context length is /)
  })
  expect(told("too_long").message).not.toMatch(/[0-9]/)
})

it("an inference error shows small amounts in plain decimals, and advice that fits any kind of request", () => {
  const { message } = inferenceErrorOf(new CreditInsufficient({ required: 20n, available: 0n }))
  expect(message).toContain("up to 0.00000002 USD, and 0 USD")
  expect(message).toContain("shorter texts")
})

it("an inference error refers to the operator only for the operator's own tasks", () => {
  expect(told("denied").message).toContain("operator")
  expect(told("forbidden").message).not.toContain("operator")
})

it("a video with an unknown outcome is retried under its key alone, else looked up", () => {
  const [hasIdempotencyKey, plain] = [true, false].map((hasIdempotencyKey) =>
    inferenceErrorOf(new VideoOutcomeUnknown({ id: "v", hasIdempotencyKey }))
  )
  expect(hasIdempotencyKey).toMatchObject({ status: 503, headers: { "x-should-retry": "true" } })
  expect(hasIdempotencyKey?.message).toContain("Idempotency-Key")
  expect(plain).toMatchObject({ status: 503, headers: { "x-should-retry": "false" } })
  expect(plain?.message).toContain("GET /v1/videos/video_v ")
})
