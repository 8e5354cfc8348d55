/** The first image of a video, as the stock client sends it in forms: it reaches the model, or no video is created. */
import { expect, layer } from "@effect/vitest"
import type { VideoTask } from "@sluice/domain/models/MediaProvider"
import { ModelProvider } from "@sluice/domain/models/ModelProvider"
import { MAX_VIDEO_IMAGE_BYTES } from "@sluice/domain/videos/VideoRequest"
import { instant } from "@sluice/simulator/models/ModelWorld"
import { Effect, Layer } from "effect"
import { toFile } from "openai"
import { ownPglite } from "@sluice/testing/engines/Databases"
import { money } from "@sluice/testing/fixtures/Workspace"
import { chatServer, simulateModels } from "../inference/support/ChatServer.ts"
import { customer, failure, keys, NANO } from "../inference/support/Customer.ts"

/** The requests that the model received. */
const tasks: Array<VideoTask> = []
const watched = Layer.effect(
  ModelProvider,
  Effect.map(ModelProvider, (world) => {
    const videos = world.videos!
    const submit: typeof videos.submit = (model, task) =>
      Effect.suspend(() => {
        tasks.push(task)
        return videos.submit(model, task)
      })
    return { ...world, videos: { ...videos, submit } }
  })
).pipe(Layer.provide(simulateModels(instant(7))))

const Running = chatServer(keys, watched).pipe(Layer.provideMerge(ownPglite))
const ORDER = { model: "sluice-film", prompt: "a harbour at dawn", seconds: "4" } as const
const PNG = Buffer.from("89504e470d0a1a0a", "hex")
/** An image of the given number of bytes. */
const png = (bytes: number) => Buffer.concat([PNG, Buffer.alloc(bytes - PNG.length)])
const urlOf = (bytes: Buffer) => `data:image/png;base64,${bytes.toString("base64")}`

layer(Running, { excludeTestServices: true, timeout: "5 minutes" })("the image of a video", (it) => {
  it.effect("the image of a video reaches the model at any permitted size", () =>
    Effect.gen(function* () {
      const { client } = yield* customer(4n * NANO)
      for (const size of [8, MAX_VIDEO_IMAGE_BYTES]) {
        const image = png(size)
        const body = { ...ORDER, input_reference: { image_url: urlOf(image) } }
        const { id } = yield* Effect.promise(() => client.videos.create(body))
        while (tasks.every((task) => `video_${task.id}` !== id)) yield* Effect.sleep("20 millis")
        const { image: seen } = tasks.find((task) => `video_${task.id}` === id)!
        expect([seen?.contentType, image.equals(seen?.bytes ?? PNG.subarray(1))]).toEqual(["image/png", true])
      }
    })
  )

  it.effect("the image of a video reaches the model as a file under every accepted field name", () =>
    Effect.gen(function* () {
      const { apiKey, url } = yield* customer(4n * NANO)
      const sent = (name: string, value: Blob | string) =>
        Effect.promise(async () => {
          const form = new FormData()
          for (const [field, text] of Object.entries(ORDER)) form.append(field, text)
          form.append(name, value)
          const headers = { authorization: `Bearer ${apiKey}` }
          return (await fetch(`${url}/v1/videos`, { method: "POST", headers, body: form })).status
        })
      const file = new Blob([PNG], { type: "image/png" })
      for (const name of ["input_reference", "input_reference[image_url]", "input_reference[]"]) {
        const before = tasks.length
        expect([name, yield* sent(name, file)]).toEqual([name, 200])
        while (tasks.length === before) yield* Effect.sleep("20 millis")
        expect([name, tasks.at(-1)!.image?.contentType]).toEqual([name, "image/png"])
      }
      expect(yield* sent("input_reference[]", urlOf(PNG))).toBe(400)
    })
  )

  it.effect("is not there where its fields have no value", () =>
    Effect.gen(function* () {
      const { apiKey, url } = yield* customer(4n * NANO)
      const empty = ["seconds", "size", "input_reference", "input_reference[image_url]", "input_reference[file_id]"]
      const form = new FormData()
      for (const name of ["model", "prompt"] as const) form.append(name, ORDER[name])
      for (const name of empty) form.append(name, "")
      const before = tasks.length
      const headers = { authorization: `Bearer ${apiKey}` }
      const answer = yield* Effect.promise(() => fetch(`${url}/v1/videos`, { method: "POST", headers, body: form }))
      expect(answer.status).toBe(200)
      while (tasks.length === before) yield* Effect.sleep("20 millis")
      expect(tasks.at(-1)!.image).toBeUndefined()
    })
  )

  it.effect("an invalid or unsupported image is a 400 and creates no video", () =>
    Effect.gen(function* () {
      const { apiKey, client, principal, url } = yield* customer(NANO)
      const file = yield* Effect.promise(() => toFile(PNG, "a.png", { type: "image/png" }))
      for (const [input_reference, param, said] of [
        [{ image_url: "nonsense" }, "input_reference", "data: URL"],
        [{ image_url: urlOf(png(MAX_VIDEO_IMAGE_BYTES + 1)) }, "input_reference", "at most 8388608 bytes"],
        [{ file_id: "file-1" }, "input_reference.file_id", "not stored here"],
        [{ file_id: "file-1", image_url: urlOf(PNG) }, "input_reference.file_id", "not stored here"],
        [{ picture: urlOf(PNG) }, "input_reference", "data: URL"]
      ] as const) {
        const refusal = yield* failure(() => client.videos.create({ ...ORDER, input_reference } as never))
        expect(refusal).toMatchObject({ status: 400, param, message: expect.stringContaining(said) })
        const json = yield* Effect.promise(() =>
          fetch(`${url}/v1/videos`, {
            method: "POST",
            headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
            body: JSON.stringify({ ...ORDER, input_reference })
          }).then((response) => response.json())
        )
        expect(json).toMatchObject({ error: { param, message: expect.stringContaining(said) } })
      }
      const both = { ...ORDER, input_reference: file, "input_reference[image_url]": urlOf(PNG) }
      expect(yield* failure(() => client.videos.create(both as never))).toMatchObject({
        status: 400,
        message: expect.stringContaining("not as both")
      })
      const larger = { ...ORDER, input_reference: { image_url: urlOf(png(MAX_VIDEO_IMAGE_BYTES + 1_048_576)) } }
      expect(yield* failure(() => client.videos.create(larger))).toMatchObject({ status: 413, code: "file_too_large" })
      expect(yield* money(principal)).toMatchObject({ balance: NANO, held: 0n, usage: 0n })
    })
  )

  it.effect(
    "only the image of a form may be large: other fields keep their bounds, and a prompt the bound of JSON",
    () =>
      Effect.gen(function* () {
        const { client, principal } = yield* customer(NANO)
        const long = { ...ORDER, user: "x".repeat(200_000) } as never
        expect(yield* failure(() => client.videos.create(long))).toMatchObject({ status: 400, code: "invalid_form" })
        const wordy = yield* Effect.promise(() => client.videos.create({ ...ORDER, prompt: "雨".repeat(32_000) }))
        expect(wordy.status).toBe("queued")
        expect(yield* money(principal)).not.toMatchObject({ held: 0n })
      })
  )
})
