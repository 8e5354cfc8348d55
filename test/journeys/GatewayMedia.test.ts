/** Media and embeddings through two gateways: the second one returns the same bytes, text and price as the first. */
import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { toFile } from "openai"
import { type Gateways, startGateways } from "@sluice/testing/servers/Gateways"
import type { ServerProcess } from "@sluice/testing/servers/ServerProcess"

let gateways: Gateways
beforeAll(async () => {
  gateways = await startGateways(({ upstream }) => {
    const via = (model: string) => ({ upstreams: [{ ...upstream, model }] })
    return [
      {
        kind: "embeddings",
        id: "house-embed",
        dimensions: 512,
        // More than the first server's limit.
        context_length: 20_000,
        price_usd: { million_tokens: 0.02 },
        ...via("sluice-embed-small")
      },
      { kind: "images", id: "house-image", sizes: ["256x256"], price_usd: { image: 0.04 }, ...via("sluice-image") },
      {
        kind: "speech",
        id: "house-voice",
        voices: ["alloy", "nova"],
        max_input_characters: 4_096,
        price_usd: { million_characters: 15 },
        ...via("sluice-voice")
      },
      { kind: "transcription", id: "house-listen", price_usd: { minute: 0.006 }, ...via("sluice-listen") },
      {
        kind: "video",
        id: "house-film",
        sizes: ["640x368"],
        seconds: [4],
        price_usd: { second: 0.1 },
        ...via("sluice-film")
      }
    ]
  })
}, 300_000)
afterAll(() => gateways.end())

const spent = async (server: ServerProcess) => {
  const { balance_usd, held_usd } = (await server.call("GET", "/api/v1/billing/balance")).json.data
  expect(held_usd).toBe(0)
  return 100 - balance_usd
}

/** The cost at both servers, which must be equal. */
const sameCost = async <A>(work: () => Promise<A>): Promise<A> => {
  const { back, front } = gateways
  const before = [await spent(front), await spent(back)]
  const done = await work()
  const [near, far] = [(await spent(front)) - before[0]!, (await spent(back)) - before[1]!]
  expect(near).toBeGreaterThan(0)
  expect(near).toBeCloseTo(far, 9)
  return done
}

describe("a gateway behind a gateway", () => {
  it("returns the same embeddings", async () => {
    const { far, near } = gateways
    for (const dimensions of [undefined, 64]) {
      const body = { input: ["a river", "a lake"], ...(dimensions === undefined ? {} : { dimensions }) }
      const { data } = await sameCost(() => near.embeddings.create({ model: "house-embed", ...body }))
      const direct = await far.embeddings.create({ model: "sluice-embed-small", ...body })
      for (const [at, { embedding }] of data.entries()) {
        expect(embedding.length).toBe(dimensions ?? 512)
        const other = direct.data[at]!.embedding
        expect(embedding.reduce((sum, value, i) => sum + value * other[i]!, 0)).toBeCloseTo(1, 5)
      }
    }
  })

  it("reports a text that only the first server finds too long", async () => {
    const long = gateways.near.embeddings.create({ model: "house-embed", input: ["a", "word ".repeat(9_000)] })
    await expect(long).rejects.toMatchObject({ status: 400, code: "context_length_exceeded", param: "input" })
  })

  it("returns the same images", async () => {
    const body = { prompt: "a harbour", n: 2, size: "256x256" as const }
    const { data } = await sameCost(() => gateways.near.images.generate({ model: "house-image", ...body }))
    const direct = await gateways.far.images.generate({ model: "sluice-image", ...body })
    expect(data?.map((image) => image.b64_json)).toEqual(direct.data?.map((image) => image.b64_json))
  })

  it("returns the same speech and the same transcript", async () => {
    const { far, near } = gateways
    const bytes = async (answer: Response) => Buffer.from(await answer.arrayBuffer())
    for (const response_format of ["mp3", "wav", "pcm"] as const) {
      const body = { input: "The quick brown fox.", voice: "nova", response_format }
      const spoken = await bytes(await sameCost(() => near.audio.speech.create({ model: "house-voice", ...body })))
      const direct = await bytes(await far.audio.speech.create({ model: "sluice-voice", ...body }))
      expect(spoken.length).toBeGreaterThan(1_000)
      expect(spoken.equals(direct)).toBe(true)
      if (response_format === "pcm") continue
      const ask = async (model: string, client = near) =>
        client.audio.transcriptions.create({
          model,
          file: await toFile(spoken, `a.${response_format}`),
          response_format: "verbose_json",
          timestamp_granularities: ["segment", "word"]
        })
      const heard = await sameCost(() => ask("house-listen"))
      const { language, segments, text, words } = await ask("sluice-listen", far)
      expect(heard.text.length).toBeGreaterThan(0)
      expect(heard).toMatchObject({
        language,
        text,
        words,
        segments: segments?.map(({ end, start, text }) => ({ end, start, text }))
      })
    }
  })

  it("makes a video once and serves ranges of it", async () => {
    const { back, front, near } = gateways
    const film = await sameCost(async () => {
      const order = { model: "house-film", prompt: "a harbour at dawn", seconds: "4", size: "640x368" } as never
      let film = await near.videos.create(order)
      while (film.status === "queued" || film.status === "in_progress") {
        await new Promise((go) => setTimeout(go, 100))
        film = await near.videos.retrieve(film.id)
      }
      expect(film.status).toBe("completed")
      return film
    })
    const { data } = (await back.call("GET", "/v1/videos")).json
    expect(data.length).toBe(1)
    const read = async (server: ServerProcess, id: string, range?: string) => {
      const headers = { authorization: `Bearer ${server.options.key}`, ...(range === undefined ? {} : { range }) }
      const answer = await fetch(`${server.origin}/v1/videos/${id}/content`, { headers })
      return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) }
    }
    const direct = await read(back, data[0].id)
    expect(direct.bytes.length).toBeGreaterThan(1_000)
    for (const [range, start, end] of [
      [undefined, 0, direct.bytes.length],
      ["bytes=100-199", 100, 200],
      ["bytes=-50", direct.bytes.length - 50, direct.bytes.length]
    ] as const) {
      const { bytes, status } = await read(front, film.id, range)
      expect([range, status]).toEqual([range, range === undefined ? 200 : 206])
      expect(bytes.equals(direct.bytes.subarray(start, end))).toBe(true)
    }
    expect(await read(front, film.id, "bytes=99999999-")).toMatchObject({ status: 416 })
    // A deletion at the gateway also deletes at the first server.
    await near.videos.delete(film.id)
    while ((await back.call("GET", "/v1/videos")).json.data.length > 0) await new Promise((go) => setTimeout(go, 50))
  })
})
