/** Images through the stock client: valid PNG files, deterministic for a prompt, charged by the image. */
import { expect, layer } from "@effect/vitest"
import { instant } from "@sluice/simulator/models/ModelWorld"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { crc32, inflateSync } from "node:zlib"
import type { ImageGenerateParamsNonStreaming } from "openai/resources/images"
import { ownPglite } from "@sluice/testing/engines/Databases"
import { money } from "@sluice/testing/fixtures/Workspace"
import { chatServer, simulateModels } from "../support/ChatServer.ts"
import { customer, failure, keys, NANO } from "../support/Customer.ts"

const Running = chatServer(keys, simulateModels(instant(7))).pipe(Layer.provideMerge(ownPglite))
const MODEL = "sluice-image"
const PRICE = 40_000_000n

/** Checks of a PNG: all checksums, the size in its header, and as many bytes of pixels as that size takes. */
const decoded = (file: Buffer) => {
  expect(file.subarray(0, 8).toString("hex")).toBe("89504e470d0a1a0a")
  const chunks = new Map<string, Buffer>()
  for (let at = 8; at < file.length;) {
    const length = file.readUInt32BE(at)
    const body = file.subarray(at + 4, at + 8 + length)
    expect(file.readUInt32BE(at + 8 + length)).toBe(crc32(body))
    chunks.set(body.subarray(0, 4).toString(), body.subarray(4))
    at += length + 12
  }
  expect([...chunks.keys()]).toEqual(["IHDR", "IDAT", "IEND"])
  const head = chunks.get("IHDR")!
  const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)]
  const pixels = inflateSync(chunks.get("IDAT")!)
  expect(pixels.length).toBe(height * (1 + 3 * width))
  expect(new Set(pixels).size).toBeGreaterThan(20)
  return `${width}x${height}`
}

layer(Running, { excludeTestServices: true, timeout: "5 minutes" })("images through the stock client", (it) => {
  it.effect("are PNG files of the requested size, and depend on the prompt alone", () =>
    Effect.gen(function* () {
      const { client, principal } = yield* customer(NANO)
      const ask = (body: Partial<ImageGenerateParamsNonStreaming>) =>
        Effect.promise(() => {
          const whole: ImageGenerateParamsNonStreaming = { model: MODEL, prompt: "a sunny harbour", ...body }
          return client.images.generate(whole)
        })
      const first = yield* ask({ n: 2, size: "512x512" })
      const files = first.data!.map(({ b64_json }) => Buffer.from(b64_json!, "base64"))
      expect(files.map(decoded)).toEqual(["512x512", "512x512"])
      expect(files[0]!.equals(files[1]!)).toBe(false)
      expect((yield* ask({ n: 2, size: "512x512" })).data).toEqual(first.data)
      expect((yield* ask({ n: 2, size: "512x512", prompt: "a foggy harbour" })).data).not.toEqual(first.data)
      const [wide] = (yield* ask({ size: "1536x1024", response_format: "b64_json" })).data!
      expect(decoded(Buffer.from(wide!.b64_json!, "base64"))).toBe("1536x1024")
      expect(first.usage).toMatchObject({
        input_tokens: expect.any(Number),
        input_tokens_details: { text_tokens: first.usage!.input_tokens, image_tokens: 0 },
        cost: 0.08
      })
      expect(yield* money(principal)).toMatchObject({ balance: NANO - 7n * PRICE, held: 0n, usage: 4n })
    })
  )

  it.effect("come as links that need no key, for an hour", () =>
    Effect.gen(function* () {
      const { client, principal, url } = yield* customer(NANO)
      const ask = (response_format: "url" | "b64_json") =>
        Effect.promise(() =>
          client.images.generate({ model: MODEL, prompt: "a sunny harbour", n: 2, size: "256x256", response_format })
        )
      const links = (yield* ask("url")).data!
      const files = (yield* ask("b64_json")).data!
      const open = (link: string) => Effect.promise(() => fetch(link))
      for (const [index, { b64_json, url: link }] of links.entries()) {
        expect(b64_json).toBeUndefined()
        expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/images\/[\w-]{32}$/)
        const response = yield* open(link!)
        expect([response.status, response.headers.get("content-type")]).toEqual([200, "image/png"])
        const bytes = Buffer.from(yield* Effect.promise(() => response.arrayBuffer()))
        expect(bytes.equals(Buffer.from(files[index]!.b64_json!, "base64"))).toBe(true)
      }
      expect((yield* open(`${url}/images/${"A".repeat(32)}`)).status).toBe(404)
      const sql = yield* SqlClient.SqlClient
      yield* sql`update image_links set expires_at = expires_at - interval '1 hour'`
      expect((yield* open(links[0]!.url!)).status).toBe(404)
      yield* ask("url")
      const [kept] = yield* sql<{ readonly count: bigint }>`select count(*) as count from image_links`
      expect(kept!.count).toBe(2n)
      expect(yield* money(principal)).toMatchObject({ balance: NANO - 6n * PRICE, held: 0n })
    })
  )

  it.effect("are refused with the name of the wrong field, without a charge", () =>
    Effect.gen(function* () {
      const { client, principal } = yield* customer(NANO)
      const refused = (body: object) =>
        failure(() => client.images.generate({ model: MODEL, prompt: "a harbour", ...body } as never))
      for (const [body, param] of [
        [{ prompt: "" }, "prompt"],
        [{ prompt: "x".repeat(32_001) }, "prompt"],
        [{ n: 0 }, "n"],
        [{ n: 11 }, "n"],
        [{ size: "7x7" }, "size"],
        [{ output_format: "webp" }, "output_format"]
      ] as const) {
        expect(yield* refused(body)).toMatchObject({ status: 400, type: "invalid_request_error", param })
      }
      expect(yield* refused({ model: "sluice-small" })).toMatchObject({ status: 404, code: "model_not_found" })
      const poor = yield* customer(PRICE - 1n)
      expect(yield* failure(() => poor.client.images.generate({ model: MODEL, prompt: "a harbour" }))).toMatchObject({
        status: 402,
        code: "insufficient_credits"
      })
      expect(yield* money(principal)).toMatchObject({ balance: NANO, usage: 0n })
    })
  )
})
