/** Films over a provider that does what a test says. */
import { NodeCrypto } from "@effect/platform-node"
import { Signals } from "@sluice/domain/database/Signals"
import { Wakeups } from "@sluice/domain/database/Wakeups"
import type { VideoModel, VideoProgress, VideoProvider } from "@sluice/domain/inference/MediaProvider"
import { ModelProvider, UpstreamFailed } from "@sluice/domain/inference/ModelProvider"
import type { Video } from "@sluice/domain/inference/Video"
import { VideoListStore } from "@sluice/domain/inference/VideoListStore"
import { VideoReconciler } from "@sluice/domain/inference/VideoReconciler"
import { type VideoError, Videos } from "@sluice/domain/inference/Videos"
import { VideoStore } from "@sluice/domain/inference/VideoStore"
import * as DomainMetrics from "@sluice/domain/metrics/Metrics"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { openWorkspace, replica } from "./Workspace.ts"

const MODEL: VideoModel = {
  id: "film",
  created: 0,
  ownedBy: "test",
  sizes: ["640x368"],
  seconds: [4, 8],
  secondPrice: 10n
}
export const REQUEST = { model: "film", prompt: "a harbour", size: undefined, seconds: undefined, image: undefined }

/** What the provider does, set by each test; what it was asked. */
interface Script {
  submit: Effect.Effect<string, UpstreamFailed>
  look: Effect.Effect<VideoProgress, UpstreamFailed>
  remove: Effect.Effect<void, UpstreamFailed>
  read: ReturnType<VideoProvider["read"]>
  readonly asked: Array<string>
}
const unread = Effect.die(new Error("Nobody reads here"))
export const script: Script = {
  submit: Effect.succeed("r"),
  look: Effect.never,
  remove: Effect.void,
  read: unread,
  asked: []
}
const asking = <A>(what: string, answer: () => Effect.Effect<A, UpstreamFailed>) =>
  Effect.suspend(() => {
    script.asked.push(what)
    return answer()
  })
const videos: VideoProvider = {
  models: [MODEL],
  submit: (_model, { id }) => asking(`submit ${id}`, () => script.submit),
  look: (_model, reference) => asking(`look ${reference}`, () => script.look),
  read: (_model, reference) => asking(`read ${reference}`, () => script.read),
  remove: (_model, reference) => asking(`remove ${reference}`, () => script.remove)
}

export const services = Layer.mergeAll(Videos.layerNoDeps, VideoReconciler.layerNoDeps).pipe(
  Layer.provideMerge(Layer.mergeAll(VideoStore.layer, VideoListStore.layer)),
  Layer.provide(Wakeups.layer.pipe(Layer.provideMerge(Signals.layer))),
  Layer.provide(Layer.succeed(ModelProvider, { models: [], chat: () => Effect.never, videos })),
  Layer.provide(replica),
  Layer.provide(NodeCrypto.layer),
  Layer.provideMerge(DomainMetrics.layer)
)

/** How many were counted with each end, and what they cost. */
export const counted = Effect.map(DomainMetrics.Metrics, ({ modelCost, modelDuration, modelRequests }) => ({
  ok: modelRequests.of("film", "ok").value,
  failed: modelRequests.of("film", "failed").value,
  refused: modelRequests.of("film", "refused").value,
  nanoUsd: Math.round(modelCost.of("film").value * 1e9),
  seconds: modelDuration.of("film").sum
}))

export const failed = (reason: UpstreamFailed["reason"]) => Effect.fail(new UpstreamFailed({ reason }))
let workspaces = 700
/** A workspace that nobody has used. */
export const stranger = (balance: bigint) => openWorkspace(++workspaces, balance)

export const setUp = Effect.fn(function* (balance: bigint) {
  const look = Effect.succeed({ _tag: "Waiting" })
  Object.assign(script, { submit: Effect.succeed("r"), look, remove: Effect.void, read: unread })
  script.asked.length = 0
  const principal = yield* stranger(balance)
  const { tick } = yield* VideoReconciler
  const videos = yield* Videos
  const submit: (...order: Parameters<typeof videos.submit>) => Effect.Effect<Video, VideoError> = (...order) =>
    Effect.map(videos.submit(...order), ({ video }) => video)
  return { principal, all: { ...videos, submit }, videos, turn: Effect.andThen(TestClock.adjust("1 minute"), tick) }
})
