/**
 * All services that answer requests, over a database, a seal and a world of machines and models. It does not choose the
 * database, the world or the counter of rate limits, and starts no background work except what a service needs for
 * itself.
 */
import { Access } from "@sluice/domain/access/Access"
import { ApiKeys } from "@sluice/domain/access/ApiKeys"
import { Workspaces } from "@sluice/domain/access/Workspaces"
import * as ControlPlane from "@sluice/domain/ControlPlane"
import { Environments } from "@sluice/domain/environments/Environments"
import { Idempotency } from "@sluice/domain/idempotency/Idempotency"
import { Embeddings } from "@sluice/domain/inference/embeddings/Embeddings"
import { ImageLinks } from "@sluice/domain/inference/images/ImageLinks"
import { Images } from "@sluice/domain/inference/images/Images"
import { Inference } from "@sluice/domain/inference/chat/Inference"
import { Metering } from "@sluice/domain/metering/Metering"
import { HoldSweep } from "@sluice/domain/metering/HoldSweep"
import { OutboxSweep } from "@sluice/domain/database/OutboxSweep"
import { Speech } from "@sluice/domain/inference/audio/Speech"
import { Transcriptions } from "@sluice/domain/inference/audio/Transcriptions"
import { VideoListStore } from "@sluice/domain/videos/VideoListStore"
import { VideoReconciler } from "@sluice/domain/videos/VideoReconciler"
import { Videos } from "@sluice/domain/videos/Videos"
import { VideoStore } from "@sluice/domain/videos/VideoStore"
import { Volumes } from "@sluice/domain/storage/Volumes"
import { Layer } from "effect"
import { nodeKeyHash } from "./access/NodeKeyHash.ts"
import { StoreProbe } from "./site/StoreProbeStore.ts"

/**
 * Requires the database clients, `Crypto`, `Replica`, `Seal`, `MachineProvider`, `ModelProvider`, `SoundProbe` and
 * `Tokens`.
 */
export const application = Layer.mergeAll(
  Environments.layer,
  Idempotency.layer,
  Layer.mergeAll(
    Inference.layerNoDeps,
    Embeddings.layerNoDeps,
    Images.layerNoDeps.pipe(Layer.provideMerge(ImageLinks.layer)),
    Speech.layerNoDeps,
    Transcriptions.layerNoDeps
  ).pipe(Layer.provide(Metering.layer)),
  Layer.mergeAll(Videos.layerNoDeps, VideoReconciler.layerNoDeps).pipe(
    Layer.provide(Layer.mergeAll(VideoStore.layer, VideoListStore.layer))
  ),
  HoldSweep.layer,
  OutboxSweep.layer,
  StoreProbe.layer,
  Volumes.layer,
  Workspaces.layer,
  ApiKeys.layer.pipe(Layer.provideMerge(Access.layer))
).pipe(Layer.provideMerge(ControlPlane.layer), Layer.provideMerge(nodeKeyHash))
