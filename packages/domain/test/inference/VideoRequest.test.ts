/** The body of POST /videos: what passes can be stored, what does not names its field. */
import { describe, expect, it } from "@effect/vitest"
import { decodeVideo, MAX_VIDEO_PROMPT } from "@sluice/domain/inference/VideoRequest"
import { Result } from "effect"
import fc from "fast-check"

const prompts = fc.array(fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("\0", "\ud800", "a river")), {
  maxLength: 5
})

describe("the body of a video", () => {
  it("has a prompt that a database can hold, or is refused for it", () => {
    fc.assert(
      fc.property(prompts, (parts) => {
        const prompt = parts.join("")
        const decoded = decodeVideo({ model: "m", prompt })
        const fits = prompt !== "" && prompt.length <= MAX_VIDEO_PROMPT && !prompt.includes("\0")
        expect(Result.isSuccess(decoded)).toBe(fits)
        if (Result.isFailure(decoded)) expect(decoded.failure).toMatchObject({ param: "prompt" })
      })
    )
  })

  it("says why a prompt with NUL is refused", () => {
    const decoded = decodeVideo({ model: "m", prompt: "a\0b" })
    expect(Result.isFailure(decoded) && decoded.failure.message).toContain("must not contain NUL")
  })
})
