/**
 * Videos of a prompt: ordered, shown, listed, read, deleted (interface: POST /videos and its other endpoints). The
 * price is held when a video is ordered and charged when it is complete; a failed video costs nothing.
 */
import { Context, Crypto, Effect, Layer } from "effect"
import type { Principal } from "../access/Principal.ts"
import { BudgetReached, CreditInsufficient } from "../billing/BillingErrors.ts"
import { Signals } from "../database/Signals.ts"
import { recoverDefect, isTransient, isOutcomeUnknown } from "../database/StoreFailure.ts"
import { Wakeups } from "../database/Wakeups.ts"
import { AnswerLimit } from "../inference/answers/AnswerLimit.ts"
import { catalogOf, chooseOption } from "../models/Catalog.ts"
import { ImageFetch } from "../inference/images/ImageFetch.ts"
import type { ModelRequestError } from "../models/InferenceErrors.ts"
import { fetchVideoImage } from "./LinkedVideoImage.ts"
import type { ByteRange, VideoBytes, VideoModel } from "../models/MediaProvider.ts"
import { makeModelMetrics } from "../models/ModelMetrics.ts"
import { ModelProvider } from "../models/ModelProvider.ts"
import { UpstreamFailed } from "../models/UpstreamFailed.ts"
import {
  RangeUnsatisfiable,
  type Video,
  VideoNotEnded,
  VideoNotFound,
  VideoOrderDiffers,
  VideoOutcomeUnknown,
  VideoWithheld,
  VideoWithoutBytes
} from "./Video.ts"
import { VideoListStore, type VideoPage } from "./VideoListStore.ts"
import type { VideoRequest } from "./VideoRequest.ts"
import { videoOf } from "./VideoRow.ts"
import { VideoStore } from "./VideoStore.ts"

export type VideoError =
  | ModelRequestError
  | RangeUnsatisfiable
  | VideoNotEnded
  | VideoNotFound
  | VideoOrderDiffers
  | VideoOutcomeUnknown
  | VideoWithheld
  | VideoWithoutBytes

export class Videos extends Context.Service<
  Videos,
  {
    readonly models: ReadonlyArray<VideoModel>
    /** `replayed`: an earlier order with the same key and the same content made this video. */
    readonly submit: (
      principal: Principal,
      request: VideoRequest
    ) => Effect.Effect<{ readonly video: Video; readonly replayed: boolean }, VideoError>
    readonly show: (principal: Principal, id: string) => Effect.Effect<Video, VideoNotFound>
    readonly list: (
      principal: Principal,
      page: VideoPage
    ) => Effect.Effect<{ readonly videos: ReadonlyArray<Video>; readonly hasMore: boolean }>
    readonly remove: (principal: Principal, id: string) => Effect.Effect<void, VideoNotFound | VideoNotEnded>
    /** Returns the bytes of a completed video, or a range of them. */
    readonly read: (
      principal: Principal,
      id: string,
      range: ByteRange | undefined
    ) => Effect.Effect<VideoBytes, VideoError>
  }
>()("@sluice/domain/videos/Videos") {
  static readonly layerNoDeps = Layer.effect(
    Videos,
    Effect.gen(function* () {
      const catalog = catalogOf((yield* ModelProvider).videos)
      const store = yield* VideoStore
      const lists = yield* VideoListStore
      const wakeups = yield* Wakeups
      const signals = yield* Signals
      const metrics = yield* makeModelMetrics
      const images = yield* ImageFetch
      const crypto = yield* Crypto.Crypto
      const limitAnswer = yield* AnswerLimit

      const find = (principal: Principal, id: string) =>
        Effect.filterOrFail(
          lists.find(id, principal.environmentId),
          (row) => row !== undefined,
          () => new VideoNotFound({ id })
        )

      return Videos.of({
        models: catalog.models,
        submit: Effect.fnUntraced(function* (principal, request) {
          const { model } = yield* catalog.find(request.model)
          const size = yield* chooseOption("size", request.size, model.sizes, `${model.id} makes`)
          const seconds = yield* chooseOption("seconds", request.seconds, model.seconds, `${model.id} makes`)
          const price = model.secondPrice * BigInt(seconds)
          const id = yield* Effect.orDie(crypto.randomUUIDv7())
          const { environmentId, environmentName, keyId, workspaceId } = principal
          const { idempotencyKey, imageLink, prompt } = request
          const findReplayed = idempotencyKey === undefined ? Effect.void : lists.ordered(idempotencyKey, environmentId)
          // A replayed order has its image already, so its link is not fetched again.
          const linkToFetch = imageLink === undefined || (yield* findReplayed) !== undefined ? undefined : imageLink
          const image =
            linkToFetch === undefined ? request.image : yield* fetchVideoImage(images, workspaceId, linkToFetch)
          const outcomeUnknown = () => new VideoOutcomeUnknown({ id, hasIdempotencyKey: idempotencyKey !== undefined })
          const order = {
            id,
            workspaceId,
            environmentId,
            keyId,
            model: model.id,
            prompt,
            size,
            seconds,
            price,
            image,
            idempotencyKey
          }
          const { available, refused } = yield* recoverDefect(store.admit(order), isOutcomeUnknown, outcomeUnknown)
          // The money that is missing may be held by the same order, submitted at the same time.
          if (refused !== null && (yield* findReplayed) === undefined) {
            metrics(model.id).ended("refused", 0)
            if (refused === "budget_reached") return yield* new BudgetReached({ environmentName })
            return yield* new CreditInsufficient({ required: price, available })
          }
          signals.emit("videos")
          const findVideo = Effect.filterOrElse(
            findReplayed,
            (row) => row !== undefined,
            () => Effect.orDie(find(principal, id))
          )
          const video = videoOf(yield* recoverDefect(findVideo, isTransient, outcomeUnknown))
          if (video.id === id) return { video, replayed: false }
          const isSameOrder =
            video.model === model.id && video.prompt === prompt && video.size === size && video.seconds === seconds
          return isSameOrder ? { video, replayed: true } : yield* new VideoOrderDiffers()
        }),
        show: (principal, id) => Effect.map(find(principal, id), videoOf),
        list: (principal, page) =>
          Effect.map(lists.page(principal.environmentId, page), (rows) => ({
            videos: rows.slice(0, page.limit).map(videoOf),
            hasMore: rows.length > page.limit
          })),
        remove: Effect.fnUntraced(function* (principal, id) {
          yield* find(principal, id)
          if (!(yield* lists.remove(id, principal.environmentId))) return yield* new VideoNotEnded()
          yield* wakeups.announce("videos")
        }),
        read: Effect.fnUntraced(function* (principal, id, range) {
          const row = yield* find(principal, id)
          if (row.status !== "completed") return yield* new VideoWithoutBytes({ status: row.status })
          const broken = () => new UpstreamFailed({ reason: "broken" })
          const { model, provider } = yield* Effect.mapError(catalog.find(row.model), broken)
          if (row.reference === null) return yield* broken()
          const read = yield* Effect.mapError(limitAnswer(provider.read(model, row.reference, range)), (failed) =>
            failed.reason === "unserved" ? new VideoWithheld() : failed
          )
          if (read.start >= read.size) return yield* new RangeUnsatisfiable({ size: read.size })
          return read
        })
      })
    })
  ).pipe(Layer.provide(AnswerLimit.layer))
}
