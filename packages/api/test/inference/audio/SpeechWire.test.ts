/** Speech in events: a client that decodes each event as it comes has the sound, byte by byte. */
import { expect, it } from "@effect/vitest"
import { speechEventsText } from "@sluice/api/inference/audio/SpeechWire"

it("a sound of any length comes in events that can be decoded one by one", () => {
  for (const length of [1, 49_151, 49_152, 49_153, 200_000]) {
    const sound = Buffer.from(Array.from({ length }, (_, at) => at % 251))
    const text = speechEventsText(sound.toString("base64"), { sound, promptTokens: 3, cost: 5n })
    const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!))
    const parts = events.slice(0, -1).map(({ audio }) => Buffer.from(audio, "base64"))
    expect(Buffer.concat(parts).equals(sound)).toBe(true)
  }
})
