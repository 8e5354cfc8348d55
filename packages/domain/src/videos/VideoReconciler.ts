/**
 * Moves every ordered video to its end: submits it to its provider, polls its progress, settles its money.
 *
 * The reconciler wakes when a video is ordered or deleted, at the next poll of each video, and by poll. A step is
 * idempotent: a submission has the video's id as its key, and only one claim commits.
 */
import { Clock, Context, Effect, Layer } from "effect"
import * as Reconciler from "../database/Reconciler.ts"
import { Replica } from "../database/Replica.ts"
import { Signals } from "../database/Signals.ts"
import type { VideoModel } from "../models/MediaProvider.ts"
import { makeModelMetrics } from "../models/ModelMetrics.ts"
import { ModelProvider } from "../models/ModelProvider.ts"
import { UpstreamFailed } from "../models/UpstreamFailed.ts"
import { advance, isEnded, nextPollAt, VIDEO_LIMIT_MS, type VideoNews } from "./VideoLifecycle.ts"
import { stateOf, type VideoRow } from "./VideoRow.ts"
import { VideoStore } from "./VideoStore.ts"

const SLOTS = 32
/** Timeout of one provider call (ms). */
export const VIDEO_CALL_TIMEOUT_MS = 30_000
/** Pause before a failed deletion is retried (ms). */
const DELETE_RETRY_MS = 60_000

export class VideoReconciler extends Context.Service<
  VideoReconciler,
  { readonly tick: Effect.Effect<number>; readonly run: Effect.Effect<never> }
>()("@sluice/domain/videos/VideoReconciler") {
  static readonly layerNoDeps = Layer.effect(
    VideoReconciler,
    Effect.gen(function* () {
      const store = yield* VideoStore
      const signals = yield* Signals
      const metrics = yield* makeModelMetrics
      const clock = yield* Clock.Clock
      const { scale } = yield* Replica
      const provider = (yield* ModelProvider).videos
      const catalog = new Map((provider?.models ?? []).map((model) => [model.id, model]))
      const limitMs = VIDEO_LIMIT_MS * scale

      /** Asks the provider for news. A model that is no longer in the catalog gives none. */
      const fetchNews = (row: VideoRow): Effect.Effect<VideoNews> => {
        const model = catalog.get(row.model)
        if (provider === undefined || model === undefined) return Effect.succeed({ _tag: "Silent", reason: "broken" })
        const { reference } = row
        const news: Effect.Effect<VideoNews, Pick<UpstreamFailed, "reason">> = reference === null
          ? Effect.map(provider.submit(model, taskOf(row)), (given) => ({ _tag: "Begun", reference: given }))
          : Effect.map(provider.look(model, reference), (progress) => ({ _tag: "Progress", progress }))
        return news.pipe(
          Effect.timeoutOrElse({
            duration: VIDEO_CALL_TIMEOUT_MS * scale,
            orElse: () => Effect.fail(new UpstreamFailed({ reason: "timeout" }))
          }),
          Effect.catch(({ reason }) => Effect.succeed<VideoNews>({ _tag: "Silent", reason }))
        )
      }

      /** Deletes a video at its provider. */
      const removeAtProvider = (model: VideoModel | undefined, reference: string | null) =>
        provider === undefined || model === undefined || reference === null
          ? Effect.void
          : Effect.timeout(provider.remove(model, reference), VIDEO_CALL_TIMEOUT_MS * scale)

      const remove = (row: VideoRow) =>
        Effect.matchEffect(removeAtProvider(catalog.get(row.model), row.reference), {
          onSuccess: () => store.forget(row),
          onFailure: () => store.later(row, clock.currentTimeMillisUnsafe() + DELETE_RETRY_MS * scale)
        })

      const step = Effect.fnUntraced(function* (row: VideoRow) {
        if (row.deleted_at !== null) return yield* remove(row)
        const createdAt = row.created_at.getTime()
        const news = yield* fetchNews(row)
        const times = { createdAt, now: clock.currentTimeMillisUnsafe(), limitMs }
        const state = advance(stateOf(row), news, times)
        const wakeAt = nextPollAt(times)
        const committed = yield* store.commit(row, state, wakeAt)
        if (!committed) return
        if (!isEnded(state.status)) return reconciler.alarm(wakeAt)
        const completed = state.status === "completed"
        metrics(row.model).ended(completed ? "ok" : "failed", times.now - createdAt)
        signals.emit("budgets")
        if (completed) return metrics(row.model).charged(null, row.price)
        // A failed video is not fetched, so it need not be completed or stored. The caller's deletion may delete it
        // once more.
        yield* Effect.ignore(removeAtProvider(catalog.get(row.model), state.reference))
      })

      const reconciler: Reconciler.Reconciler<VideoRow> = yield* Reconciler.make<VideoRow>({
        name: "videos",
        slots: SLOTS,
        claim: store.claim,
        renew: store.renew,
        step
      })
      yield* signals.listen("videos", reconciler.signal)
      return { tick: reconciler.tick, run: reconciler.run }
    })
  )

  /** Runs the reconciler as long as the layer lives. */
  static readonly loop = Layer.effectDiscard(Effect.flatMap(VideoReconciler, ({ run }) => Effect.forkScoped(run)))
}

const taskOf = (row: VideoRow) => ({
  id: row.id,
  prompt: row.prompt,
  size: row.size,
  seconds: row.seconds,
  image:
    row.picture === null || row.picture_type === null
      ? undefined
      : { bytes: row.picture, contentType: row.picture_type }
})
