/** Suite of OpenAI's client: embeddings, images, audio, videos and the list of models. */
import { createReadStream, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { BadRequestError, NotFoundError, toFile } from "openai"
import { expect } from "vitest"
import { framesOf, wavOf } from "@sluice/testing/fixtures/Sounds"
import { temporaryDirectory } from "@sluice/testing/servers/ServerProcess"
import { clientOf, costOf } from "./OpenAiChats.ts"
import { nano } from "./support/Customer.ts"
import { MODEL } from "./support/Host.ts"
import { failure, isPng, PIXEL, SPOKEN, type Suite } from "./support/Suite.ts"

type Client = ReturnType<typeof clientOf>

const speak = async (client: Client, response_format: "mp3" | "wav" | "pcm" | "opus" | "aac" | "flac") => {
  const asked = { model: "sluice-voice", voice: "alloy", input: SPOKEN, response_format }
  return Buffer.from(await (await client.audio.speech.create(asked)).arrayBuffer())
}
const spoken = async (client: Client) => toFile(await speak(client, "mp3"), "speech.mp3")

export const openAiMedia = {
  embeddings: async (host) => {
    const who = await host.customer()
    const client = clientOf(who)
    const asked = { model: "sluice-embed-small", input: ["one text", "another text"] }
    const { data, usage } = await client.embeddings.create(asked)
    expect(data.map(({ embedding }) => embedding.length)).toEqual([512, 512])
    expect((await who.bill()).cost).toBe(costOf(usage))
    const floats = await client.embeddings.create({ ...asked, encoding_format: "float" })
    expect(floats.data).toEqual(data)
  },
  images: async (host) => {
    const who = await host.customer()
    const client = clientOf(who)
    const asked = { model: "sluice-image", prompt: "a harbour", size: "256x256" } as const
    const { data, usage } = await client.images.generate({ ...asked, n: 2 })
    for (const { b64_json } of data!) expect(isPng(Buffer.from(b64_json!, "base64"))).toBe(true)
    expect(data).toHaveLength(2)
    expect((await who.bill()).cost).toBe(costOf(usage))
    for (const [field, value] of [
      ["output_format", "webp"],
      ["stream", true]
    ] as const) {
      const error = await failure(() => client.images.generate({ ...asked, [field]: value }))
      expect(error).toBeInstanceOf(BadRequestError)
      expect(error).toMatchObject({ param: field })
    }
    expect((await who.bill()).requests).toBe(1)
  },
  imageEdits: async (host) => {
    const client = clientOf(await host.customer())
    const image = await toFile(Buffer.from(PIXEL, "base64"), "pixel.png", { type: "image/png" })
    const error = await failure(() => client.images.edit({ model: "sluice-image", prompt: "a harbour", image }))
    expect(error).toBeInstanceOf(NotFoundError)
  },
  speech: async (host) => {
    const who = await host.customer()
    const client = clientOf(who)
    const { frames, seconds } = framesOf(await speak(client, "mp3"))
    expect(frames).toBeGreaterThan(50)
    const wav = wavOf(await speak(client, "wav"))
    expect(wav.seconds).toBeCloseTo(seconds, 0)
    expect((await speak(client, "pcm")).equals(wav.samples)).toBe(true)
    const bill = await who.bill()
    expect(bill.requests).toBe(3)
    expect(bill.cost).toBeGreaterThan(0)
    for (const format of ["opus", "aac", "flac"] as const) {
      const error = await failure(() => speak(client, format))
      expect(error).toBeInstanceOf(BadRequestError)
      expect(error).toMatchObject({ param: "response_format" })
    }
    expect(await who.bill()).toEqual(bill)
  },
  speechStreamed: async (host) => {
    const client = clientOf(await host.customer())
    const asked = { model: "sluice-voice", voice: "alloy", input: SPOKEN, stream_format: "sse" } as const
    const text = await (await client.audio.speech.create(asked)).text()
    const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!))
    expect(events.at(-1)).toMatchObject({ type: "speech.audio.done" })
    const parts = events.slice(0, -1).map(({ audio }) => Buffer.from(audio, "base64"))
    expect(Buffer.concat(parts).equals(await speak(client, "mp3"))).toBe(true)
  },
  transcription: async (host) => {
    const who = await host.customer()
    const client = clientOf(who)
    const file = await spoken(client)
    const before = await who.bill()
    const hear = client.audio.transcriptions
    const asked = { model: "sluice-listen", file }
    const plain = await hear.create(asked)
    expect(plain.text).toBe(SPOKEN)
    expect(nano((await who.bill()).cost)).toBe(nano(before.cost) + nano(costOf(plain.usage)))
    expect((await hear.create({ ...asked, response_format: "json" })).text).toBe(SPOKEN)
    expect(await hear.create({ ...asked, response_format: "text" })).toBe(`${SPOKEN}\n`)
    expect(await hear.create({ ...asked, response_format: "srt" })).toMatch(/^1\n00:00:00,000 --> 00:00:0\d,\d{3}\n/)
    expect(await hear.create({ ...asked, response_format: "vtt" })).toMatch(/^WEBVTT\n\n00:00:00\.000 --> /)
    const verbose = await hear.create({
      ...asked,
      response_format: "verbose_json",
      timestamp_granularities: ["word", "segment"]
    })
    expect(verbose).toMatchObject({ text: SPOKEN, language: "english" })
    expect(verbose.words!.map(({ word }) => word).join(" ")).toBe(SPOKEN)
    expect(verbose.segments!.map(({ text }) => text).join(" ")).toBe(SPOKEN)
  },
  transcriptionStreamed: async (host) => {
    const client = clientOf(await host.customer())
    const asked = { model: "sluice-listen", file: await spoken(client), stream: true } as const
    let words = ""
    let end = ""
    for await (const event of await client.audio.transcriptions.create(asked)) {
      if (event.type === "transcript.text.delta") words += event.delta
      if (event.type === "transcript.text.done") end = event.text
    }
    expect([words, end]).toEqual([SPOKEN, SPOKEN])
  },
  videos: async (host) => {
    const who = await host.customer()
    const client = clientOf(who)
    // The client's types know only OpenAI's sizes and lengths.
    const order = { model: "sluice-film", prompt: "a harbour", seconds: "4", size: "640x368" }
    let video = await client.videos.create(order as never)
    expect(video.status).toBe("queued")
    expect(await failure(() => client.videos.downloadContent(video.id))).toMatchObject({ code: "video_not_ready" })
    while (video.status === "queued" || video.status === "in_progress") {
      await sleep(100)
      video = await client.videos.retrieve(video.id)
    }
    expect(video).toMatchObject({ status: "completed", progress: 100 })
    const film = Buffer.from(await (await client.videos.downloadContent(video.id)).arrayBuffer())
    expect(film.subarray(4, 8).toString()).toBe("ftyp")
    const { cost } = (video as { readonly usage?: { readonly cost: number } }).usage!
    expect(await who.bill()).toMatchObject({ cost, held: 0, requests: 1 })
    const ids: Array<string> = []
    for await (const { id } of client.videos.list()) ids.push(id)
    expect(ids).toEqual([video.id])
    expect(await client.videos.delete(video.id)).toMatchObject({ deleted: true })
    expect(await failure(() => client.videos.retrieve(video.id))).toBeInstanceOf(NotFoundError)
  },
  videoPictures: async (host) => {
    const client = clientOf(await host.customer())
    const order = { model: "sluice-film", prompt: "a harbour", seconds: "4" } as const
    const bytes = Buffer.from(PIXEL, "base64")
    const { path, remove } = temporaryDirectory()
    const picture = join(path, "pixel.png")
    writeFileSync(picture, bytes)
    try {
      // The client sends a media type only for the third file.
      for (const input_reference of [
        createReadStream(picture),
        await toFile(bytes, "pixel.png"),
        await toFile(bytes, "pixel.png", { type: "image/png" })
      ]) {
        expect((await client.videos.create({ ...order, input_reference })).status).toBe("queued")
      }
    } finally {
      remove()
    }
    const other = await toFile(bytes, "pixel.jpg", { type: "image/jpeg" })
    const error = await failure(() => client.videos.create({ ...order, input_reference: other }))
    expect(error).toBeInstanceOf(BadRequestError)
    expect(error).toMatchObject({ param: "input_reference" })
  },
  models: async (host) => {
    const client = clientOf(await host.customer())
    const ids: Array<string> = []
    for await (const { id } of client.models.list()) ids.push(id)
    expect(ids).toEqual(expect.arrayContaining([MODEL, "sluice-embed-small", "sluice-voice", "sluice-film"]))
    expect(await client.models.retrieve(MODEL)).toMatchObject({ id: MODEL, object: "model" })
    expect(await failure(() => client.models.retrieve("sluice-unknown"))).toBeInstanceOf(NotFoundError)
  },
  others: async (host) => {
    const client = clientOf(await host.customer())
    for (const ask of [
      () => client.files.list(),
      () => client.batches.list(),
      () => client.fineTuning.jobs.list(),
      () => client.moderations.create({ input: "Hello" })
    ]) {
      expect(await failure(ask)).toBeInstanceOf(NotFoundError)
    }
  }
} satisfies Partial<Suite<"openai">>
