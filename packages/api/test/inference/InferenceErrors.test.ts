/** What callers are told of a model's server speaks of what they asked for. */
import { inferenceErrorOf } from "@sluice/api/inference/InferenceErrors"
import { UpstreamFailed } from "@sluice/domain/inference/ModelProvider"
import { VideoWithheld } from "@sluice/domain/inference/Video"
import { expect, it } from "@effect/vitest"

it("a video that its server does not give out is a refusal, and no matter of a chat's fields", () => {
  const withheld = inferenceErrorOf(new VideoWithheld())
  const refused = inferenceErrorOf(new UpstreamFailed({ reason: "refused" }))
  expect(withheld).toEqual({ ...refused, message: withheld.message })
  expect([withheld.status, withheld.code, withheld.headers]).toEqual([
    502,
    "upstream_refused",
    { "x-should-retry": "false" }
  ])
  expect(withheld.message).toContain("video")
  expect(withheld.message).not.toContain("response_format")
})
