/** Transcription through the stock client: words that come back, exact prices, and what is refused. */
import { expect, layer } from "@effect/vitest"
import { instant } from "@sluice/simulator/models/ModelWorld"
import { Effect, Layer } from "effect"
import { toFile } from "openai"
import { ownPglite } from "@sluice/testing/engines/Databases"
import { money } from "@sluice/testing/fixtures/Workspace"
import { chatServer, simulateModels } from "../support/ChatServer.ts"
import { customer, failure, keys, NANO } from "../support/Customer.ts"
import { type Client, speak, TEXT } from "../support/Spoken.ts"
import { wavOf } from "@sluice/testing/fixtures/Sounds"

const world = instant(7)
const brief = { ...world.transcription[0]!, id: "brief", maxSeconds: 2 }
const Running = chatServer(keys, simulateModels({ ...world, transcription: [...world.transcription, brief] })).pipe(
  Layer.provideMerge(ownPglite)
)
const PER_MINUTE = 6_000_000n

layer(Running, { excludeTestServices: true, timeout: "5 minutes" })("transcription through the stock client", (it) => {
  const ask = (client: Client, bytes: Buffer, name: string, body: object = {}) =>
    Effect.promise(async () =>
      client.audio.transcriptions.create({ model: "sluice-listen", file: await toFile(bytes, name), ...body } as never)
    )

  it.effect("returns the words of speech in every format, and charges its length", () =>
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

  it.effect("returns fixed words for a foreign sound", () =>
    Effect.gen(function* () {
      const { client } = yield* customer(NANO)
      const { bytes } = yield* speak(client, { response_format: "wav" })
      // Without the text in the file: its header and its samples alone.
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

  it.effect("refuses invalid sounds, oversized files and unsupported options", () =>
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
      // A file of the largest permitted size: the rest of the form is not counted.
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
