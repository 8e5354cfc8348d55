/**
 * Videos through the stock client: create, poll, download whole and in ranges, delete; a hold first, then a charge or a
 * release.
 */
import { expect, layer } from "@effect/vitest"
import { instant } from "@sluice/simulator/models/ModelWorld"
import { Effect, Layer, Schedule } from "effect"
import { ALL_FORMATS, BufferSource, Input } from "mediabunny"
import { toFile } from "openai"
import { ownPglite } from "@sluice/testing/engines/Databases"
import { money } from "@sluice/testing/fixtures/Workspace"
import { chatServer, simulateModels } from "../inference/support/ChatServer.ts"
import { customer, failure, keys, NANO } from "../inference/support/Customer.ts"

const Running = chatServer(keys, simulateModels(instant(7))).pipe(Layer.provideMerge(ownPglite))
const PRICE_OF_FOUR_SECONDS = 400_000_000n
/** Enough bytes of a film to recognise it. */
const PNG = Buffer.from("89504e470d0a1a0a", "hex")
const ORDER = { model: "sluice-film", prompt: "a harbour at dawn", seconds: "4", size: "640x368" } as never

const hasIdempotencyKey = (key: string) => ({ headers: { "Idempotency-Key": key } })

type Customer = Effect.Success<ReturnType<typeof customer>>

const show = ({ client }: Customer, id: string) => Effect.promise(() => client.videos.retrieve(id))

/** Polls as a client does, until the film has ended. */
const ended = (who: Customer, id: string) =>
  Effect.repeat(show(who, id), {
    schedule: Schedule.spaced("100 millis"),
    until: ({ status }) => status === "completed" || status === "failed"
  })

const download = ({ apiKey, url }: Customer, path: string, range?: string, more: object = {}) =>
  Effect.promise(async () => {
    const headers = { authorization: `Bearer ${apiKey}`, ...(range === undefined ? {} : { range }), ...more }
    const response = await fetch(`${url}/v1/videos/${path}`, { headers })
    const body = Buffer.from(await response.arrayBuffer())
    return { status: response.status, body, contentRange: response.headers.get("content-range") }
  })

layer(Running, { excludeTestServices: true, timeout: "5 minutes" })("videos through the stock client", (it) => {
  it.effect("videos are rendered in the background, with a hold first and a charge at the end", () =>
    Effect.gen(function* () {
      const who = yield* customer(NANO)
      const ordered = yield* Effect.promise(() => who.client.videos.create(ORDER))
      expect(ordered).toMatchObject({ object: "video", status: "queued", seconds: "4", size: "640x368", progress: 0 })
      expect(yield* money(who.principal)).toMatchObject({ balance: NANO, held: PRICE_OF_FOUR_SECONDS, usage: 0n })
      expect(yield* failure(() => who.client.videos.downloadContent(ordered.id))).toMatchObject({
        status: 404,
        code: "video_not_ready"
      })
      expect(yield* failure(() => who.client.videos.delete(ordered.id))).toMatchObject({ status: 409 })

      const done = yield* ended(who, ordered.id)
      expect(done).toMatchObject({ status: "completed", progress: 100, usage: { cost: 0.4 } })
      expect(done).not.toHaveProperty("error")
      expect(yield* money(who.principal)).toMatchObject({
        balance: NANO - PRICE_OF_FOUR_SECONDS,
        held: 0n,
        usage: 1n
      })

      const film = yield* Effect.promise(async () =>
        Buffer.from(await (await who.client.videos.downloadContent(ordered.id)).arrayBuffer())
      )
      const input = new Input({ source: new BufferSource(film), formats: ALL_FORMATS })
      const track = (yield* Effect.promise(() => input.getPrimaryVideoTrack()))!
      expect([track.codec, track.codedWidth, track.codedHeight]).toEqual(["avc", 640, 368])
      expect(yield* Effect.promise(() => input.computeDuration())).toBeCloseTo(4, 1)

      const whole = yield* download(who, `${ordered.id}/download`)
      expect(whole).toMatchObject({ status: 200, contentRange: null })
      expect(whole.body.equals(film)).toBe(true)
      for (const [range, from, to] of [
        ["bytes=0-99", 0, 100],
        ["bytes=1000-", 1_000, film.length],
        ["bytes=-500", film.length - 500, film.length],
        [`bytes=100-${film.length * 2}`, 100, film.length]
      ] as const) {
        const part = yield* download(who, `${ordered.id}/content`, range)
        expect(part).toMatchObject({ status: 206, contentRange: `bytes ${from}-${to - 1}/${film.length}` })
        expect(part.body.equals(film.subarray(from, to))).toBe(true)
      }
      const other = yield* download(who, `${ordered.id}/content`, "bytes=0-9", { "if-range": '"another"' })
      expect([other.status, other.body.length]).toEqual([200, film.length])
      const beyond = yield* download(who, `${ordered.id}/content`, "bytes=99999999999999999999999-")
      expect(beyond.status).toBe(416)
      const behind = yield* download(who, `${ordered.id}/content`, `bytes=${film.length}-`)
      expect(behind).toMatchObject({ status: 416, contentRange: `bytes */${film.length}` })

      expect(yield* Effect.promise(() => who.client.videos.delete(ordered.id))).toEqual({
        id: ordered.id,
        object: "video.deleted",
        deleted: true
      })
      expect(yield* failure(() => who.client.videos.retrieve(ordered.id))).toMatchObject({ code: "video_not_found" })
    })
  )

  it.effect("videos are created once under one Idempotency-Key", () =>
    Effect.gen(function* () {
      const who = yield* customer(NANO)
      const order = (idempotencyKey: string, change: object = {}) =>
        Effect.promise(() =>
          who.client.videos
            .create({ ...(ORDER as object), ...change } as never, hasIdempotencyKey(idempotencyKey))
            .withResponse()
        )
      const first = yield* order("one")
      const again = yield* order("one")
      expect(again.data.id).toBe(first.data.id)
      expect([first, again].map(({ response }) => response.headers.get("idempotent-replayed"))).toEqual([null, "true"])
      const failed = (key: string, change: object) =>
        failure(() => who.client.videos.create({ ...(ORDER as object), ...change } as never, hasIdempotencyKey(key)))
      expect(yield* failed("one", { prompt: "fog" })).toMatchObject({ status: 409, code: "idempotency_mismatch" })
      expect(yield* failed("k".repeat(256), {})).toMatchObject({ status: 400, param: "Idempotency-Key" })
      yield* ended(who, first.data.id)
      expect((yield* money(who.principal)).balance).toBe(NANO - PRICE_OF_FOUR_SECONDS)
    })
  )

  it.effect("videos are listed by page, and only those of the caller", () =>
    Effect.gen(function* () {
      const who = yield* customer(2n * NANO)
      const stranger = yield* customer(NANO)
      const file = yield* Effect.promise(() => toFile(PNG, "a.png", { type: "image/png" }))
      const orders: ReadonlyArray<object> = [
        ORDER,
        { ...(ORDER as object), prompt: "fog" },
        { ...(ORDER as object), input_reference: file }
      ]
      const ids: Array<string> = []
      for (const order of orders)
        ids.unshift((yield* Effect.promise(() => who.client.videos.create(order as never))).id)
      const seen = yield* Effect.promise(async () => {
        const all: Array<string> = []
        for await (const video of who.client.videos.list({ limit: 2 })) all.push(video.id)
        return all
      })
      expect(seen).toEqual(ids)
      const oldest = yield* Effect.promise(() => who.client.videos.list({ limit: 1, order: "asc" }))
      expect(oldest.data.map(({ id }) => id)).toEqual([ids[2]])
      expect((yield* Effect.promise(() => stranger.client.videos.list())).data).toEqual([])
      for (const ask of [
        () => stranger.client.videos.retrieve(ids[0]!),
        () => stranger.client.videos.delete(ids[0]!),
        () => stranger.client.videos.downloadContent(ids[0]!),
        () => who.client.videos.retrieve("video_nothing")
      ]) {
        expect(yield* failure(ask)).toMatchObject({ status: 404, code: "video_not_found" })
      }
      for (const [path, param] of [
        ["?limit=1&limit=2", "limit"],
        ["?order=asc&order=desc", "order"],
        ["?limit=101", "limit"],
        ["?after=x", "after"],
        [`${ids[0]}/content?variant=video&variant=video`, "variant"]
      ] as const) {
        const { body, status } = yield* download(who, path)
        expect(status).toBe(400)
        expect(JSON.parse(body.toString()).error).toMatchObject({ type: "invalid_request_error", param })
      }
      for (const id of ids) expect(yield* ended(who, id)).toMatchObject({ status: "completed" })
      expect((yield* money(who.principal)).balance).toBe(2n * NANO - 3n * PRICE_OF_FOUR_SECONDS)
    })
  )

  it.effect("videos are refused with the name of the wrong field, without a charge", () =>
    Effect.gen(function* () {
      const who = yield* customer(PRICE_OF_FOUR_SECONDS)
      const text = yield* Effect.promise(() => toFile(Buffer.from("words"), "a.txt", { type: "text/plain" }))
      const send = (body: object) =>
        Effect.promise(async () => {
          const headers = { authorization: `Bearer ${who.apiKey}`, "content-type": "application/json" }
          const response = await fetch(`${who.url}/v1/videos`, { method: "POST", headers, body: JSON.stringify(body) })
          const answer = (await response.json()) as { readonly error?: object }
          return { status: response.status, ...answer.error }
        })
      for (const [body, param] of [
        [{ prompt: "" }, "prompt"],
        [{ seconds: "5" }, "seconds"],
        [{ seconds: 4.5 }, "seconds"],
        [{ size: "1x1" }, "size"],
        [{ input_reference: { image_url: "https://example.org/a.png" } }, "input_reference"],
        [{ input_reference: { image_url: "data:text/html;base64,AAAA" } }, "input_reference"],
        [{ input_reference: { image_url: "data:image/png;base64,@@" } }, "input_reference"],
        [{ input_reference: { image_url: `data:image/jpeg;base64,${PNG.toString("base64")}` } }, "input_reference"]
      ] as const) {
        expect(yield* send({ ...(ORDER as object), ...body })).toMatchObject({ status: 400, param })
      }
      const called = yield* Effect.promise(() => toFile(Buffer.from("words"), "a.png", { type: "image/png" }))
      for (const [file, why] of [
        [text, "must be image/png, image/jpeg, image/webp"],
        [called, "is not image/png by its bytes"]
      ] as const) {
        const form = { ...(ORDER as object), input_reference: file } as never
        const refusal = yield* failure(() => who.client.videos.create(form))
        expect(refusal).toMatchObject({ status: 400, param: "input_reference" })
        expect(refusal.message).toContain(`Invalid value for 'input_reference': the image ${why}`)
      }
      expect(yield* send({ ...(ORDER as object), model: "sluice-small" })).toMatchObject({ status: 404 })
      expect(yield* send({ ...(ORDER as object), seconds: 8 })).toMatchObject({
        status: 402,
        code: "insufficient_credits"
      })
      expect(yield* money(who.principal)).toMatchObject({ balance: PRICE_OF_FOUR_SECONDS, held: 0n, usage: 0n })
    })
  )

  it.effect("videos ordered at once never spend more than the balance", () =>
    Effect.gen(function* () {
      const who = yield* customer(3n * PRICE_OF_FOUR_SECONDS + 1n)
      const orders = Array.from({ length: 30 }, () =>
        Effect.promise(() =>
          who.client.videos.create(ORDER).then(
            ({ id }) => id,
            (error: { readonly code: string }) => `refused: ${error.code}`
          )
        )
      )
      const outcomes = yield* Effect.all(orders, { concurrency: "unbounded" })
      const taken = outcomes.filter((outcome) => outcome.startsWith("video_"))
      expect(taken).toHaveLength(3)
      expect(new Set(outcomes.filter((outcome) => !taken.includes(outcome)))).toEqual(
        new Set(["refused: insufficient_credits"])
      )
      for (const id of taken) yield* ended(who, id)
      expect(yield* money(who.principal)).toMatchObject({ balance: 1n, held: 0n, usage: 3n })
    })
  )
})
