/** The form of POST /audio/transcriptions: numbers come as text, in the notations of client languages. */
import { expect, it } from "@effect/vitest"
import { decodeTranscription } from "@sluice/domain/inference/audio/TranscriptionRequest"
import { Result } from "effect"

const sound = { content: new Blob(["RIFF"]), path: "/sound", name: "a.wav" }
const decoded = (fields: object) => decodeTranscription({ model: "m", ...fields }, sound)

it("a temperature is any number from 0 to 1", () => {
  for (const [text, number] of [
    ["0", 0],
    ["1", 1],
    ["0.30000000000000004", 0.30000000000000004],
    [".5", 0.5],
    ["1e-1", 0.1],
    ["1.0", 1],
    ["-0", -0]
  ] as const) {
    expect(Result.getOrThrow(decoded({ temperature: text })).temperature).toBe(number)
  }
  for (const temperature of ["", " ", "1.1", "-0.1", "NaN", "Infinity", "warm", "0,5", `0.${"0".repeat(31)}`]) {
    const refused = decoded({ temperature })
    expect(Result.isFailure(refused) && refused.failure).toMatchObject({
      param: "temperature",
      message: "Invalid value for 'temperature': Expected a number from 0 to 1"
    })
  }
})
