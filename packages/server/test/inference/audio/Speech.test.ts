/** Speech through the stock client: files that decoders read, exact prices. */
import { expect, layer } from "@effect/vitest"
import { instant } from "@sluice/simulator/models/ModelWorld"
import { Effect, Layer } from "effect"
import { ownPglite } from "@sluice/testing/engines/Databases"
import { money } from "@sluice/testing/fixtures/Workspace"
import { chatServer, simulateModels } from "../support/ChatServer.ts"
import { customer, failure, keys, NANO } from "../support/Customer.ts"
import { speak, TEXT } from "../support/Spoken.ts"
import { framesOf, wavOf } from "@sluice/testing/fixtures/Sounds"

const Running = chatServer(keys, simulateModels(instant(7))).pipe(Layer.provideMerge(ownPglite))
const PER_CHARACTER = 15_000n

layer(Running, { excludeTestServices: true, timeout: "5 minutes" })("speech through the stock client", (it) => {
  it.effect("is an audible file of the requested format, the same for the same text", () =>
    Effect.gen(function* () {
      const { client, principal } = yield* customer(NANO)
      const mp3 = yield* speak(client)
      expect(mp3.type).toBe("audio/mpeg")
      const { frames, seconds } = framesOf(mp3.bytes)
      expect(frames).toBeGreaterThan(100)
      const wav = yield* speak(client, { response_format: "wav" })
      expect(wav.type).toBe("audio/wav")
      const sound = wavOf(wav.bytes)
      expect(sound).toMatchObject({ sampleRate: 24_000, channels: 1, bits: 16 })
      expect(sound.seconds).toBeCloseTo(seconds, 0)
      const pcm = yield* speak(client, { response_format: "pcm" })
      expect(pcm.type).toBe("audio/pcm")
      expect(pcm.bytes.equals(sound.samples)).toBe(true)
      const loud = Array.from({ length: pcm.bytes.length >> 1 }, (_, i) => Math.abs(pcm.bytes.readInt16LE(2 * i)))
      expect(loud.reduce((most, value) => Math.max(most, value))).toBeGreaterThan(5_000)
      expect(loud.filter((value) => value === 0).length).toBeGreaterThan(1_000)

      expect((yield* speak(client)).bytes.equals(mp3.bytes)).toBe(true)
      expect((yield* speak(client, { voice: "onyx" })).bytes.equals(mp3.bytes)).toBe(false)
      const fast = yield* speak(client, { response_format: "wav", speed: 2 })
      expect(wavOf(fast.bytes).seconds).toBeCloseTo(sound.seconds / 2, 1)
      // Characters are code points: the party popper is one.
      const spent = 6n * PER_CHARACTER * BigInt([...TEXT].length)
      expect(yield* money(principal)).toMatchObject({ balance: NANO - spent, held: 0n, usage: 6n })
    })
  )

  it.effect("comes in events on request", () =>
    Effect.gen(function* () {
      const { apiKey, client, url } = yield* customer(NANO)
      const text = yield* Effect.promise(async () => {
        const body = JSON.stringify({ model: "sluice-voice", input: TEXT, stream_format: "sse" })
        const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" }
        const response = await fetch(`${url}/v1/audio/speech`, { method: "POST", headers, body })
        expect(response.headers.get("content-type")).toBe("text/event-stream")
        return response.text()
      })
      const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!))
      expect(events.at(-1)).toMatchObject({ type: "speech.audio.done", usage: { cost: 0.00099 } })
      const parts = events.slice(0, -1).map(({ audio }) => Buffer.from(audio, "base64"))
      expect(Buffer.concat(parts).equals((yield* speak(client)).bytes)).toBe(true)
    })
  )

  it.effect("is refused with the name of the wrong field, without a charge", () =>
    Effect.gen(function* () {
      const { client, principal } = yield* customer(NANO)
      const refused = (body: object) =>
        failure(() => client.audio.speech.create({ model: "sluice-voice", input: "hello", ...body } as never))
      for (const [body, param, code] of [
        [{ input: "" }, "input", null],
        [{ input: "x".repeat(4_097) }, "input", "input_too_long"],
        [{ voice: "nobody" }, "voice", null],
        [{ response_format: "opus" }, "response_format", null],
        [{ response_format: "midi" }, "response_format", null],
        [{ speed: 0.2 }, "speed", null],
        [{ speed: "1" }, "speed", null]
      ] as const) {
        expect(yield* refused(body)).toMatchObject({ status: 400, type: "invalid_request_error", param, code })
      }
      expect(yield* refused({ model: "sluice-small" })).toMatchObject({ status: 404, code: "model_not_found" })
      const poor = yield* customer(PER_CHARACTER)
      expect(
        yield* failure(() => poor.client.audio.speech.create({ model: "sluice-voice", voice: "alloy", input: "hi" }))
      ).toMatchObject({ status: 402, code: "insufficient_credits" })
      expect(yield* money(principal)).toMatchObject({ balance: NANO, usage: 0n })
    })
  )
})
