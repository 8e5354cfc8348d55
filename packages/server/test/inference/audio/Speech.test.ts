/** Speech and its transcription through the stock client: files that decoders read, words that come back, exact prices. */
import { expect, layer } from "@effect/vitest"
import { instant } from "@sluice/simulator/models/ModelWorld"
import { Effect, Layer } from "effect"
import { toFile } from "openai"
import type { SpeechCreateParams } from "openai/resources/audio/speech"
import { ownPglite } from "@sluice/testing/engines/Databases"
import { money } from "@sluice/testing/fixtures/Workspace"
import { chatServer, simulated } from "../support/ChatServer.ts"
import { customer, failure, keys, NANO } from "../support/Customer.ts"
import { framesOf, wavOf } from "@sluice/testing/fixtures/Sounds"

const world = instant(7)
const brief = { ...world.ears[0]!, id: "brief", maxSeconds: 2 }
const Running = chatServer(keys, simulated({ ...world, ears: [...world.ears, brief] })).pipe(
  Layer.provideMerge(ownPglite)
)
const TEXT = "The harbour is quiet, and the boats wait. Nobody speaks: façade! 🎉"
const PER_CHARACTER = 15_000n
const PER_MINUTE = 6_000_000n

type Client = Effect.Success<ReturnType<typeof customer>>["client"]

const speak = (client: Client, body: Partial<SpeechCreateParams> = {}) =>
  Effect.promise(async () => {
    const response = await client.audio.speech.create({ model: "sluice-voice", voice: "alloy", input: TEXT, ...body })
    return { type: response.headers.get("content-type"), bytes: Buffer.from(await response.arrayBuffer()) }
  })

layer(Running, { excludeTestServices: true, timeout: "60 seconds" })("speech through the stock client", (it) => {
  it.effect("is a file of the asked format that can be heard, the same for the same text", () =>
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
      // Characters are what people count: the party popper is one.
      const spent = 6n * PER_CHARACTER * BigInt([...TEXT].length)
      expect(yield* money(principal)).toMatchObject({ balance: NANO - spent, held: 0n, usage: 6n })
    })
  )

  it.effect("comes in events where that is asked for", () =>
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

  it.effect("is refused by the field that is wrong, and for nothing", () =>
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

layer(Running, { excludeTestServices: true, timeout: "60 seconds" })("transcription through the stock client", (it) => {
  const ask = (client: Client, bytes: Buffer, name: string, body: object = {}) =>
    Effect.promise(async () =>
      client.audio.transcriptions.create({ model: "sluice-listen", file: await toFile(bytes, name), ...body } as never)
    )

  it.effect("gives back the words of speech in every format, and charges its length", () =>
    Effect.gen(function* () {
      const { client, principal } = yield* customer(NANO)
      const wav = yield* speak(client, { response_format: "wav" })
      const mp3 = yield* speak(client)
      const { balance } = yield* money(principal)
      const seconds = wavOf(wav.bytes).seconds
      const plain = yield* ask(client, wav.bytes, "a.wav")
      const cost = Number((PER_MINUTE * BigInt(Math.round(seconds * 1_000)) + 59_999n) / 60_000n) / 1e9
      expect(plain).toEqual({ text: TEXT, usage: { type: "duration", seconds, cost } })
      expect(yield* ask(client, mp3.bytes, "a.mp3")).toMatchObject({ text: TEXT })

      const verbose = yield* ask(client, wav.bytes, "a.wav", {
        response_format: "verbose_json",
        temperature: 0.5,
        timestamp_granularities: ["word", "segment"]
      })
      expect(verbose).toMatchObject({ text: TEXT, language: "english", duration: seconds, task: "transcribe" })
      const { segments, words } = verbose as unknown as Verbose
      expect(words.map(({ word }) => word).join(" ")).toBe(TEXT)
      expect(segments.map(({ text }) => text).join(" ")).toBe(TEXT)
      for (const [id, segment] of segments.entries()) {
        expect(segment).toMatchObject({ id, seek: 0, tokens: [], temperature: 0.5, avg_logprob: 0 })
        expect(segment).toMatchObject({ compression_ratio: 0, no_speech_prob: 0 })
      }
      for (const list of [words, segments]) {
        for (const [index, { end, start }] of list.entries()) {
          expect(end).toBeGreaterThan(start)
          if (index > 0) expect(start).toBeGreaterThanOrEqual(list[index - 1]!.end)
        }
        expect(list.at(-1)!.end).toBeLessThanOrEqual(seconds + 0.001)
      }
      const format = (response_format: string) => ask(client, wav.bytes, "a.wav", { response_format })
      expect(yield* format("text")).toBe(`${TEXT}\n`)
      expect(yield* format("srt")).toMatch(/^1\n00:00:00,000 --> 00:00:0\d,\d{3}\nThe harbour.*wait\.\n\n2\n00:00:0\d/)
      expect(yield* format("vtt")).toMatch(/^WEBVTT\n\n00:00:00\.000 --> 00:00:0\d\.\d{3}\nThe harbour/)
      const spent = balance - (yield* money(principal)).balance
      expect(spent).toBeGreaterThan(6n * ((PER_MINUTE * BigInt(Math.floor(seconds * 1_000))) / 60_000n))
    })
  )

  it.effect("streams the words and ends with all of them", () =>
    Effect.gen(function* () {
      const { client } = yield* customer(NANO)
      const { bytes } = yield* speak(client)
      const events = yield* Effect.promise(async () => {
        const file = await toFile(bytes, "a.mp3")
        const stream = await client.audio.transcriptions.create({ model: "sluice-listen", file, stream: true })
        const all = []
        for await (const event of stream) all.push(event)
        return all
      })
      expect(events.map((event) => (event.type === "transcript.text.delta" ? event.delta : "")).join("")).toBe(TEXT)
      expect(events.at(-1)).toMatchObject({ type: "transcript.text.done", text: TEXT })
    })
  )

  it.effect("hears words of its own in a sound from elsewhere, always the same", () =>
    Effect.gen(function* () {
      const { client } = yield* customer(NANO)
      const { bytes } = yield* speak(client, { response_format: "wav" })
      // Without what the voice left in the file: its header and its samples.
      const { samples } = wavOf(bytes)
      const header = Buffer.from(bytes.subarray(0, 44))
      header.write("data", 36)
      header.writeUInt32LE(samples.length, 40)
      const bare = Buffer.concat([header, samples])
      const first = (yield* ask(client, bare, "a.wav")) as { readonly text: string }
      expect(first.text).not.toBe(TEXT)
      expect(first.text.split(" ").length).toBeGreaterThan(5)
      expect(yield* ask(client, bare, "a.wav")).toEqual(first)
    })
  )

  it.effect("takes a field of the form without a value for one that was not sent", () =>
    Effect.gen(function* () {
      const { apiKey, client, url } = yield* customer(NANO)
      const { bytes } = yield* speak(client, { input: "hello", response_format: "wav" })
      const answer = (fields: Readonly<Record<string, string>>) =>
        Effect.promise(async () => {
          const form = new FormData()
          form.append("file", new Blob([new Uint8Array(bytes)]), "a.wav")
          for (const [name, value] of Object.entries(fields)) form.append(name, value)
          const headers = { authorization: `Bearer ${apiKey}` }
          const response = await fetch(`${url}/v1/audio/transcriptions`, { method: "POST", headers, body: form })
          return [response.status, await response.json()] as const
        })
      const empty = { language: "", prompt: "", response_format: "", temperature: "", stream: "" }
      const [status, text] = yield* answer({ model: "sluice-listen", ...empty, "timestamp_granularities[]": "" })
      expect([status, text]).toMatchObject([200, { text: "hello" }])
      expect(yield* answer({ model: "" })).toMatchObject([
        400,
        { error: { param: "model", message: "Invalid value for 'model': it is required" } }
      ])
    })
  )

  it.effect("refuses what is no sound, what is too large, and what it can't do", () =>
    Effect.gen(function* () {
      const { client, apiKey, principal, url } = yield* customer(NANO)
      const { bytes } = yield* speak(client, { input: "hello", response_format: "wav" })
      const before = yield* money(principal)
      const refused = (file: Buffer, body: object = {}) =>
        failure(async () =>
          client.audio.transcriptions.create({
            model: "sluice-listen",
            file: await toFile(file, "a.wav"),
            ...body
          } as never)
        )
      const noise = Buffer.from("RIFF....WAVEfmt this is no sound at all".repeat(40))
      expect(yield* refused(noise)).toMatchObject({ status: 400, param: "file", code: "invalid_file" })
      expect(yield* refused(Buffer.alloc(0))).toMatchObject({ status: 400, param: "file" })
      expect(yield* refused(Buffer.alloc(26_214_401))).toMatchObject({
        status: 413,
        code: "file_too_large",
        param: "file"
      })
      // As large as it may be: what surrounds it in the form is not counted.
      expect(yield* refused(Buffer.alloc(26_214_400))).toMatchObject({ status: 400, code: "invalid_file" })
      // Of 16 bits at 24,000 samples a second: 48,000 bytes are one second.
      const sound = (seconds: number, rate = 24_000) => {
        const file = Buffer.concat([bytes.subarray(0, 44), Buffer.alloc(48_000 * seconds)])
        file.write("data", 36)
        file.writeUInt32LE(rate, 24)
        file.writeUInt32LE(48_000 * seconds, 40)
        return file
      }
      expect(yield* refused(sound(1, 1))).toMatchObject({ status: 400, param: "file", code: "invalid_file" })
      expect(yield* refused(sound(3), { model: "brief" })).toMatchObject({
        status: 400,
        param: "file",
        code: "input_too_long",
        message: expect.stringContaining("The sound lasts 3 seconds, and brief takes at most 2; send it in parts")
      })
      expect(yield* refused(bytes, { model: "sluice-voice" })).toMatchObject({ status: 404, code: "model_not_found" })
      expect(yield* refused(bytes, { response_format: "doc" })).toMatchObject({ status: 400, param: "response_format" })
      expect(yield* refused(bytes, { language: "English!" })).toMatchObject({ status: 400, param: "language" })
      expect(yield* refused(bytes, { temperature: 3 })).toMatchObject({ status: 400, param: "temperature" })
      expect(yield* refused(bytes, { response_format: "srt", stream: true })).toMatchObject({
        status: 400,
        param: "stream"
      })
      const send = (contentType: string, body: string) =>
        Effect.promise(() => {
          const headers = { authorization: `Bearer ${apiKey}`, "content-type": contentType }
          return fetch(`${url}/v1/audio/transcriptions`, { method: "POST", headers, body })
        })
      expect((yield* send("application/json", "{}")).status).toBe(400)
      expect((yield* send("multipart/form-data; boundary=x", "no form")).status).toBe(400)
      expect((yield* send("multipart/form-data", "--x\r\n")).status).toBe(400)
      expect(yield* money(principal)).toEqual(before)
    })
  )
})

interface Verbose {
  readonly words: ReadonlyArray<{ readonly word: string; readonly start: number; readonly end: number }>
  readonly segments: ReadonlyArray<{ readonly text: string; readonly start: number; readonly end: number }>
}
