/**
 * The inference surface on a real port: edge, routes, simulated models, metering on an embedded database. Keys are known
 * by a table, so that a test says who asks without making a workspace through the API.
 */
import { NodeCrypto } from "@effect/platform-node"
import { InferenceApi } from "@sluice/api/inference/InferenceApi"
import { Access } from "@sluice/domain/access/Access"
import { KeyInvalid } from "@sluice/domain/access/AccessErrors"
import type { Principal } from "@sluice/domain/access/Principal"
import { Signals } from "@sluice/domain/database/Signals"
import { Wakeups } from "@sluice/domain/database/Wakeups"
import { Replica } from "@sluice/domain/database/Replica"
import { EnvironmentNotFound } from "@sluice/domain/environments/Environment"
import { Embeddings } from "@sluice/domain/inference/embeddings/Embeddings"
import { ImageLinks } from "@sluice/domain/inference/images/ImageLinks"
import { Images } from "@sluice/domain/inference/images/Images"
import { Inference } from "@sluice/domain/inference/chat/Inference"
import type { ModelProvider } from "@sluice/domain/models/ModelProvider"
import { Speech } from "@sluice/domain/inference/audio/Speech"
import { Transcriptions } from "@sluice/domain/inference/audio/Transcriptions"
import { VideoListStore } from "@sluice/domain/videos/VideoListStore"
import { VideoReconciler } from "@sluice/domain/videos/VideoReconciler"
import { Videos } from "@sluice/domain/videos/Videos"
import { VideoStore } from "@sluice/domain/videos/VideoStore"
import { RateLimits } from "@sluice/domain/limits/RateLimits"
import { nodeKeyHash } from "@sluice/server/access/NodeKeyHash"
import { imageLink, imageLinkRoute } from "@sluice/server/inference/images/ImageLinkRoute"
import { KeyWatch } from "@sluice/server/access/KeyWatch"
import { edge } from "@sluice/server/http/Edge"
import { hostRule } from "@sluice/server/http/Hosts"
import { nodeServer } from "@sluice/server/http/NodeServer"
import { routesOf } from "@sluice/server/http/RouteTable"
import { InferenceHandlers } from "@sluice/server/inference/InferenceHandlers"
import * as NodeSoundProbe from "@sluice/server/media/NodeSoundProbe"
import * as StudioWorkers from "@sluice/server/world/StudioWorkers"
import * as NodeTokens from "@sluice/server/tokens/NodeTokens"
import type { ModelWorld } from "@sluice/simulator/models/ModelWorld"
import * as SimulatedModels from "@sluice/simulator/models/SimulatedModels"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"

/** Keys that the server accepts. */
export type Keys = Map<string, Principal>

const accessOf = (keys: Keys) =>
  Layer.succeed(Access, {
    authenticate: (bearer, environment) => {
      const principal = keys.get(bearer ?? "")
      if (principal === undefined) return Effect.fail(new KeyInvalid())
      return environment === undefined || environment === principal.environmentName
        ? Effect.succeed(principal)
        : Effect.fail(new EnvironmentNotFound({ environment }))
    },
    forget: Effect.void
  })

/** Films with the loop that completes them. */
const films = VideoReconciler.loop.pipe(
  Layer.provideMerge(Layer.mergeAll(Videos.layerNoDeps, VideoReconciler.layerNoDeps)),
  Layer.provide(Layer.mergeAll(VideoStore.layer, VideoListStore.layer)),
  Layer.provide(Wakeups.layer.pipe(Layer.provideMerge(Signals.layer)))
)

/** The surface over a world; provides `HttpServer` with its address. */
export const chatServer = (keys: Keys, models: Layer.Layer<ModelProvider, never, never>) => {
  const routes = HttpApiBuilder.layer(InferenceApi).pipe(
    Layer.provide(InferenceHandlers),
    Layer.provide(KeyWatch.layer)
  )
  const everywhere = edge({ isOurHost: hostRule([]), routes: [...routesOf(InferenceApi), imageLinkRoute] })
  return HttpRouter.serve(Layer.mergeAll(routes, imageLink, everywhere), {
    disableLogger: true,
    disableListenLog: true
  }).pipe(
    Layer.provide(
      Layer.mergeAll(Inference.layer, Embeddings.layer, Images.layer, Speech.layer, Transcriptions.layer).pipe(
        Layer.provideMerge(ImageLinks.layer),
        Layer.provide(nodeKeyHash),
        Layer.provide(NodeSoundProbe.layer)
      )
    ),
    Layer.provide(films),
    Layer.provide(Replica.layer({ speed: 1 })),
    Layer.provide(models),
    Layer.provide(NodeTokens.layer),
    Layer.provide(RateLimits.layer),
    Layer.provide(accessOf(keys)),
    Layer.provideMerge(nodeServer({ port: 0, host: "127.0.0.1", isOurHost: hostRule([]), drain: "100 millis" })),
    Layer.provide(NodeCrypto.layer)
  )
}

export const simulateModels = (world: ModelWorld) =>
  SimulatedModels.layer(world).pipe(Layer.provide(Layer.mergeAll(NodeTokens.layer, StudioWorkers.layer)))

/** `http://127.0.0.1:port` of the running server. */
export const baseUrl = Effect.map(HttpServer.HttpServer, ({ address }) => {
  if (address._tag === "UnixPathAddress") throw new Error("The test server listens on a port")
  return `http://127.0.0.1:${address.port}`
})
