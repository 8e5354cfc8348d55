/** What callers are told of a model's server that fails: whether the same again may help, and who can help where not. */
import { expect, it } from "@effect/vitest"
import { inferenceErrorOf } from "@sluice/api/inference/InferenceErrorTable"
import { CreditInsufficient } from "@sluice/domain/billing/BillingErrors"
import { UpstreamFailed } from "@sluice/domain/models/UpstreamFailed"
import { VideoOutcomeUnknown, VideoWithheld } from "@sluice/domain/videos/Video"

const told = (reason: UpstreamFailed["reason"]) => inferenceErrorOf(new UpstreamFailed({ reason }))

it("a video that its server does not give out is nobody's bad request, and no matter of a chat's fields", () => {
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

it("asks for the same again only where that may help", () => {
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

it("says when a model is to be asked again: as its servers ask, or shortly", () => {
  expect(told("overloaded").headers).toEqual({ "retry-after": "5" })
  const error = inferenceErrorOf(new UpstreamFailed({ reason: "overloaded", retryAfterSeconds: 21 }))
  expect(error).toEqual({
    ...told("overloaded"),
    message: "The model has more requests than it can answer. Try again in 21 s.",
    headers: { "retry-after": "21" }
  })
})

it("a request that a model's server refuses is its caller's to mend", () => {
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

it("a request that a model's server finds too long is told as our own check tells it, and names no length that may be wrong", () => {
  expect(told("too_long")).toMatchObject({
    status: 400,
    type: "invalid_request_error",
    code: "context_length_exceeded",
    message: expect.stringMatching(/^This model's maximum context length is /)
  })
  expect(told("too_long").message).not.toMatch(/[0-9]/)
})

it("names small amounts in plain decimals, and advises what any kind of request can heed", () => {
  const { message } = inferenceErrorOf(new CreditInsufficient({ required: 20n, available: 0n }))
  expect(message).toContain("up to 0.00000002 USD, and 0 USD")
  expect(message).toContain("shorter texts")
})

it("sends callers to the operator only with what is the operator's alone", () => {
  expect(told("denied").message).toContain("operator")
  expect(told("forbidden").message).not.toContain("operator")
})

it("a video that may be there is ordered again under its key alone, else looked for", () => {
  const [hasIdempotencyKey, plain] = [true, false].map((hasIdempotencyKey) =>
    inferenceErrorOf(new VideoOutcomeUnknown({ id: "v", hasIdempotencyKey }))
  )
  expect(hasIdempotencyKey).toMatchObject({ status: 503, headers: { "x-should-retry": "true" } })
  expect(hasIdempotencyKey?.message).toContain("Idempotency-Key")
  expect(plain).toMatchObject({ status: 503, headers: { "x-should-retry": "false" } })
  expect(plain?.message).toContain("GET /v1/videos/video_v ")
})
