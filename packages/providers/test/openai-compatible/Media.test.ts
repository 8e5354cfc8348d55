/** Images, speech and transcripts of real servers: what they are sent, and what is believed of what they send. */
import { describe, expect, it } from "@effect/vitest"
import type { SpeechFormat } from "@sluice/domain/models/MediaProvider"
import { transcriptOf } from "@sluice/providers/openai-compatible/calls/TranscriptionCall"
import { Effect, Logger } from "effect"
import fc from "fast-check"
import { kinds, over, reasonOf } from "@sluice/testing/upstreams/Kinds"
import { recordedServer, says, type Seen } from "@sluice/testing/upstreams/RecordedServer"
import { world } from "@sluice/testing/upstreams/UpstreamWorld"

const form = ({ body, headers }: Seen) =>
  Effect.promise(() =>
    new Response(new Uint8Array(body), { headers: { "content-type": `${headers["content-type"]}` } }).formData()
  )

describe("images", () => {
  const PNG = "iVBORw0KGgoAAAANSUhEUg=="
  const JPEG = "/9j/4AAQSkZJRg=="
  it.live("are files, as many as were asked for, and never fetched from links", () =>
    Effect.gen(function* () {
      const { models, server } = yield* over((_, response) =>
        says(response, 200, { data: [{ b64_json: PNG }, { b64_json: PNG }] })
      )
      const [model, generate] = [models.images!.models[0]!, models.images!.generate]
      const task = { prompt: "a cat", count: 2, size: "64x64" }
      const made = Effect.map(generate(model, task), ({ files, format }) => [
        format,
        ...files.map((file) => Buffer.from(file).toString("base64"))
      ])
      expect(yield* made).toEqual(["png", PNG, PNG])
      expect(server.seen[0]!.json).toEqual({
        model: "up",
        prompt: "a cat",
        n: 2,
        size: "64x64",
        response_format: "b64_json"
      })
      // One where two were asked for: no fault of its health.
      server.script = (_, response) => says(response, 200, { data: [{ b64_json: PNG }] })
      for (let i = 0; i < 6; i++) expect(yield* reasonOf(generate(model, task))).toBe("unserved")
      // In another format, and as what stands behind `src=`, whatever that says of it.
      const WEBP = Buffer.from("RIFF\0\0\0\0WEBPVP8 ").toString("base64")
      for (const [format, file] of [
        ["jpeg", JPEG],
        ["webp", WEBP]
      ]) {
        server.script = (_, response) =>
          says(response, 200, { data: [{ b64_json: `data:image/png;base64,${file}` }, { b64_json: file }] })
        expect(yield* made).toEqual([format, file, file])
      }
      for (const data of [
        // Of two formats, of none that is known, of none at all.
        [{ b64_json: PNG }, { b64_json: JPEG }],
        [{ b64_json: PNG }, { b64_json: "R0lGODlhAQABAA==" }],
        [{ b64_json: "R0lGODlhAQABAA==" }, { b64_json: "R0lGODlhAQABAA==" }],
        [{ b64_json: "" }, { b64_json: "data:image/png;base64," }],
        [{ url: `${server.url}/a.png` }, { url: `${server.url}/b.png` }],
        "none"
      ]) {
        server.script = (_, response) => says(response, 200, { data })
        expect(yield* reasonOf(generate(model, task))).toBe("broken")
        // An upstream that fails again and again would be left alone.
        server.script = (_, response) => says(response, 200, { data: [{ b64_json: JPEG }, { b64_json: JPEG }] })
        expect(yield* made).toEqual(["jpeg", JPEG, JPEG])
      }
      expect(server.seen.every(({ path }) => path === "/v1/images/generations")).toBe(true)
      // 64 x 64 pixels are no more than some kilobytes.
      server.script = (_, response) => says(response, 200, { data: [{ b64_json: PNG.repeat(200_000) }] })
      expect(yield* reasonOf(generate(model, task))).toBe("broken")
    }).pipe(Effect.scoped)
  )
})

describe("speech", () => {
  it.live("is a file of the asked format, or nothing", () =>
    Effect.gen(function* () {
      const files: Record<string, Buffer> = {
        mp3: Buffer.from([0xff, 0xfb, 0x90, 0x64, 0, 0]),
        id3: Buffer.from("ID3\u0004...."),
        wav: Buffer.from("RIFF\0\0\0\0WAVEfmt "),
        pcm: Buffer.from([1, 0, 2, 0])
      }
      const { models, server } = yield* over((_, response) => response.end())
      const [model, speak] = [models.speech!.models[0]!, models.speech!.speak]
      const said = (format: SpeechFormat, file: string | Buffer, type = "application/octet-stream") => {
        server.script = (_, response) => {
          response.writeHead(200, { "content-type": type })
          response.end(typeof file === "string" ? files[file] : file)
        }
        return reasonOf(speak(model, { input: "Hi", voice: "ann", format, speed: 1, instructions: undefined }))
      }
      for (const [format, file] of [
        ["mp3", "mp3"],
        ["mp3", "id3"],
        ["wav", "wav"],
        ["pcm", "pcm"]
      ] as const) {
        expect([format, yield* said(format, file)]).toEqual([format, "none"])
      }
      for (const [format, file] of [
        ["mp3", "wav"],
        ["wav", "mp3"],
        ["pcm", "wav"],
        ["pcm", "id3"]
      ] as const) {
        expect([format, file, yield* said(format, file)]).toEqual([format, file, "unserved"])
      }
      expect(yield* said("pcm", "pcm")).toBe("none")
      expect(yield* said("mp3", Buffer.alloc(0))).toBe("broken")
      expect(yield* said("pcm", Buffer.alloc(0))).toBe("broken")
      expect(yield* said("pcm", Buffer.from('{"error":"x"}'), "application/json; charset=utf-8")).toBe("broken")
      expect(server.seen[0]!.json).toEqual({ model: "up", input: "Hi", voice: "ann", response_format: "mp3" })
      yield* reasonOf(speak(model, { input: "Hi", voice: "ann", format: "wav", speed: 2, instructions: "softly" }))
      expect(server.seen.at(-1)!.json).toMatchObject({ speed: 2, instructions: "softly", response_format: "wav" })
    }).pipe(Effect.scoped)
  )
})

describe("transcripts", () => {
  const task = {
    file: new Blob([Buffer.from("RIFF....sound")], { type: "audio/wav" }),
    path: "/nowhere",
    fileName: 'a "b"\r\n.wav',
    durationMs: 2_000,
    language: undefined,
    prompt: "Names: Ann",
    temperature: 0.2
  }
  const verbose = {
    language: "English",
    duration: 2,
    text: "Hi there. Bye.",
    segments: [
      { id: 0, start: 0, end: 1.25, text: "Hi there." },
      { id: 1, start: 1.25, end: 9, text: " Bye." }
    ],
    words: [{ word: "Hi", start: 0, end: 0.4 }]
  }

  it.live("are of the file that was sent, with times in milliseconds", () =>
    Effect.gen(function* () {
      const { models, server } = yield* over((_, response) => says(response, 200, verbose))
      const [model, transcribe] = [models.transcription!.models[0]!, models.transcription!.transcribe]
      expect(yield* transcribe(model, task)).toEqual({
        text: "Hi there. Bye.",
        language: "en",
        segments: [
          { startMs: 0, endMs: 1_250, text: "Hi there." },
          { startMs: 1_250, endMs: 2_000, text: " Bye." }
        ],
        words: [{ startMs: 0, endMs: 400, text: "Hi" }]
      })
      const sent = yield* form(server.seen[0]!)
      const file = sent.get("file")
      if (!(file instanceof Blob)) throw new Error("no file was sent")
      expect([file.type, yield* Effect.promise(() => file.text())]).toEqual(["audio/wav", "RIFF....sound"])
      expect([...sent.entries()].filter(([name]) => name !== "file")).toEqual([
        ["model", "up"],
        ["response_format", "verbose_json"],
        ["prompt", "Names: Ann"],
        ["temperature", "0.2"],
        ["timestamp_granularities[]", "segment"],
        ["timestamp_granularities[]", "word"]
      ])
      // Another server reads the file from its start again.
      server.script = (_, response) => says(response, 503, {})
      const twice = yield* world([
        kinds([
          { base_url: server.url },
          {
            base_url: (yield* recordedServer((seen, response) =>
              says(response, 200, { text: String(seen.body.includes("....sound")) })
            )).url
          }
        ]).transcription
      ])
      const read = yield* twice.transcription!.transcribe(model, task).pipe(Effect.provide(Logger.layer([])))
      expect(read).toEqual({
        text: "true",
        language: "und",
        segments: [{ startMs: 0, endMs: 2_000, text: "true" }],
        words: []
      })
    }).pipe(Effect.scoped)
  )

  it("are read from what a server tells, in order and within the sound", () => {
    const of = (value: unknown, language?: string) => transcriptOf(value, { durationMs: 2_000, language })
    for (const value of [null, {}, { text: 5 }, [], "Hi"]) expect(of(value)).toBe(undefined)
    expect(of({ text: "" })).toEqual({ text: "", language: "und", segments: [], words: [] })
    for (const [told, code] of [
      ["english", "en"],
      ["de", "de"],
      ["pt-BR", "pt"],
      ["Haitian Creole", "ht"],
      ["klingon script", "fr"],
      [undefined, "fr"]
    ]) {
      expect([told, of({ text: "x", language: told }, "fr")?.language]).toEqual([told, code])
    }
    // LocalAI has `text` for `word`, and some of its backends tell words with their segments alone.
    const spoken = [
      { start: 0, end: 0.4, text: "Hi" },
      { start: 0.5, end: 0.9, text: "there" }
    ]
    const words = [
      { startMs: 0, endMs: 400, text: "Hi" },
      { startMs: 500, endMs: 900, text: "there" }
    ]
    const within = spoken.map((word) => ({ ...word, words: [word] }))
    expect(of({ text: "x", words: spoken })?.words).toEqual(words)
    expect(of({ text: "x", segments: within, words: [] })).toMatchObject({ segments: words, words })
    expect(of({ text: "x", segments: within, words: spoken.slice(1) })?.words).toEqual(words.slice(1))
    const time = fc.oneof(fc.double({ noNaN: false }), fc.constant(undefined))
    fc.assert(
      fc.property(fc.array(fc.record({ start: time, end: time, text: fc.string() })), (segments) => {
        let last = 0
        for (const { endMs, startMs } of of({ text: "x", segments })!.segments) {
          expect([startMs >= last, endMs >= startMs, endMs <= 2_000]).toEqual([true, true, true])
          last = startMs
        }
      })
    )
  })
})
