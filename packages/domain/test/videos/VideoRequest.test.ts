/** The body of POST /videos: accepted bodies can be stored, refusals name their field. */
import { describe, expect, it } from "@effect/vitest"
import { decodeVideo, MAX_VIDEO_PROMPT } from "@sluice/domain/videos/VideoRequest"
import { Result } from "effect"
import fc from "fast-check"

const prompts = fc.array(fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("\0", "\ud800", "a river")), {
  maxLength: 5
})

const BYTES = { png: "\x89PNG\r\n\x1a\n", jpeg: "\xff\xd8\xff\xe0", webp: "RIFF\0\0\0\0WEBPVP8 " }

describe("the body of a video", () => {
  it("has a prompt that a database can store, or is refused", () => {
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

  it("accepts a file without a type, by its bytes", () => {
    const decoded = (bytes: string, contentType: string) =>
      decodeVideo({ model: "m", prompt: "a" }, { image: { bytes: Buffer.from(bytes, "latin1"), contentType } })
    for (const contentType of ["", "application/octet-stream", "binary/octet-stream"]) {
      for (const [type, bytes] of Object.entries(BYTES)) {
        expect(Result.getOrThrow(decoded(bytes, contentType)).image?.contentType).toBe(`image/${type}`)
      }
      expect(Result.isFailure(decoded("words", contentType))).toBe(true)
    }
    for (const contentType of ["image/jpeg", "text/plain"]) {
      expect(Result.isFailure(decoded(BYTES.png, contentType))).toBe(true)
    }
  })

  it("has an image whose bytes match its type", () => {
    const files = Object.entries({ ...BYTES, text: "words", wav: "RIFF\0\0\0\0WAVEfmt ", short: "\x89PNG" })
    for (const type of Object.keys(BYTES)) {
      for (const [name, file] of files) {
        const image_url = `data:image/${type};base64,${Buffer.from(file, "latin1").toString("base64")}`
        const decoded = decodeVideo({ model: "m", prompt: "a", input_reference: { image_url } })
        expect([type, name, Result.isSuccess(decoded)]).toEqual([type, name, type === name])
        if (Result.isFailure(decoded)) expect(decoded.failure).toMatchObject({ param: "input_reference" })
      }
    }
  })

  it("is refused with a reason for a prompt with NUL", () => {
    const decoded = decodeVideo({ model: "m", prompt: "a\0b" })
    expect(Result.isFailure(decoded) && decoded.failure.message).toContain("must not contain NUL")
  })
})
