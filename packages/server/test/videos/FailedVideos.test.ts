/** A failed video as callers see it: its reason, its zero cost, and no content to download. */
import { expect, layer } from "@effect/vitest"
import type { VideoFailure } from "@sluice/domain/models/MediaProvider"
import { ModelProvider } from "@sluice/domain/models/ModelProvider"
import { instant } from "@sluice/simulator/models/ModelWorld"
import { Effect, Layer, Schedule } from "effect"
import { ownPglite } from "@sluice/testing/engines/Databases"
import { money } from "@sluice/testing/fixtures/Workspace"
import { chatServer, simulateModels } from "../inference/support/ChatServer.ts"
import { customer, failure, keys, NANO } from "../inference/support/Customer.ts"

/** The prompt of a film decides how it fails. */
const failing = Layer.effect(
  ModelProvider,
  Effect.map(ModelProvider, (world) => {
    const videos = world.videos!
    const codes = new Map<string, VideoFailure>()
    const submit: typeof videos.submit = (model, task) =>
      Effect.tap(videos.submit(model, task), (reference) =>
        Effect.sync(() => codes.set(reference, task.prompt as VideoFailure))
      )
    const look: typeof videos.look = (_, reference) => Effect.succeed({ _tag: "Failed", code: codes.get(reference)! })
    return { ...world, videos: { ...videos, submit, look } }
  })
).pipe(Layer.provide(simulateModels(instant(7))))

const Running = chatServer(keys, failing).pipe(Layer.provideMerge(ownPglite))

layer(Running, { excludeTestServices: true, timeout: "5 minutes" })("a video that fails", (it) => {
  it.effect("a failed video names its reason, costs nothing, has no content, and can be deleted", () =>
    Effect.gen(function* () {
      const { client, principal } = yield* customer(NANO)
      for (const code of ["moderation_blocked", "video_generation_failed"] as const) {
        const order = { model: "sluice-film", prompt: code, seconds: "4" } as const
        const { id } = yield* Effect.promise(() => client.videos.create(order))
        const video = yield* Effect.repeat(
          Effect.promise(() => client.videos.retrieve(id)),
          { schedule: Schedule.spaced("20 millis"), until: ({ status }) => status === "failed" }
        )
        const details = { code, message: expect.stringMatching(/^The model /) }
        expect(video).toMatchObject({ completed_at: null, error_details: details, usage: { cost: 0 } })
        expect(video.error).toBe((video as unknown as { error_details: { message: string } }).error_details.message)
        for (const path of ["download", "content"]) {
          const refused = yield* failure(() => client.get(`/videos/${id}/${path}`))
          expect(refused).toMatchObject({ status: 404, type: "invalid_request_error", code: "video_failed" })
        }
        yield* Effect.promise(() => client.videos.delete(id))
        expect(yield* failure(() => client.videos.retrieve(id))).toMatchObject({ code: "video_not_found" })
      }
      expect(yield* money(principal)).toMatchObject({ balance: NANO, held: 0n, usage: 0n, openHolds: 0n })
    })
  )
})
