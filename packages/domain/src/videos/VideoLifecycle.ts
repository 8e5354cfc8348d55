/**
 * The life of a video order, as pure rules: queued -> in_progress -> completed or failed, never back. An ended video
 * never changes. A video is charged when it is completed; a failed one costs nothing.
 */
import type { VideoFailure, VideoProgress } from "../models/MediaProvider.ts"
import type { UpstreamFailed } from "../models/UpstreamFailed.ts"
import type { VideoStatus } from "./Video.ts"

/** Maximum time of a video (ms), before it is multiplied by the replica's scale. */
export const VIDEO_LIMIT_MS = 60 * 60_000
/** A video that its provider does not know fails after this fraction of the limit (1/30): two minutes. */
const ABSENT_DIVISOR = 30
/**
 * An order that no provider accepted, because of a wrong key or an unavailable server, fails after this fraction of the
 * limit (1/6): ten minutes.
 */
const ORDER_DIVISOR = 6
/** Reasons of a failed submission that a retry cannot change. */
const REFUSALS: ReadonlySet<UpstreamFailed["reason"]> = new Set(["refused", "too_large", "unserved"])
/** Shortest and longest pause between two polls (ms): young videos are polled more often. */
const POLL_MS = [1_000, 15_000] as const

export interface VideoState {
  readonly status: VideoStatus
  readonly percent: number
  readonly failure: VideoFailure | null
  /** The provider's id of the video; null: not submitted yet, or the answer was lost. */
  readonly reference: string | null
}

/** The provider's answer to a submission or a poll. */
export type VideoNews =
  | { readonly _tag: "Begun"; readonly reference: string }
  | { readonly _tag: "Progress"; readonly progress: VideoProgress }
  | { readonly _tag: "Silent"; readonly reason: UpstreamFailed["reason"] }

export const isEnded = (status: VideoStatus): boolean => status === "completed" || status === "failed"

/** Returns the next state. From `limitMs` after `createdAt` on the video has failed, whatever the provider says. */
export const advance = (
  state: VideoState,
  news: VideoNews,
  times: { readonly createdAt: number; readonly now: number; readonly limitMs: number }
): VideoState => {
  if (isEnded(state.status)) return state
  const next = afterNews(state, news, (part) => times.now >= times.createdAt + times.limitMs / part)
  return !isEnded(next.status) && times.now >= times.createdAt + times.limitMs ? failed(next, "video_timeout") : next
}

/** `isPast`: returns whether this fraction of the limit is over. */
const afterNews = (state: VideoState, news: VideoNews, isPast: (part: number) => boolean): VideoState => {
  switch (news._tag) {
    case "Begun":
      return { ...state, reference: news.reference }
    // A retry does not help a refused order. A submitted video may still be made while its provider is silent.
    case "Silent": {
      const isPassing = news.reason === "overloaded" || news.reason === "timeout"
      const isNotAccepted = !isPassing && state.reference === null && isPast(ORDER_DIVISOR)
      return REFUSALS.has(news.reason) || isNotAccepted ? failed(state, "video_generation_failed") : state
    }
    case "Progress":
      return afterProgress(state, news.progress, isPast(ABSENT_DIVISOR))
  }
}

/** `isOld`: a video that the provider does not know by now will never exist. */
const afterProgress = (state: VideoState, progress: VideoProgress, isOld: boolean): VideoState => {
  switch (progress._tag) {
    case "Waiting":
      return state
    case "Absent":
      return isOld ? failed(state, "video_generation_failed") : state
    case "Filming":
      return { ...state, status: "in_progress", percent: Math.max(state.percent, clampPercent(progress.percent)) }
    case "Completed":
      return { ...state, status: "completed", percent: 100 }
    case "Failed":
      return failed(state, progress.code)
  }
}

const failed = (state: VideoState, failure: VideoFailure): VideoState => ({ ...state, status: "failed", failure })

/** Below 100, which is reserved for completed videos. */
const clampPercent = (percent: number): number => Math.max(0, Math.min(99, Math.floor(percent) || 0))

/** Returns the time of the next poll: after a tenth of the video's age, within bounds, and never after the limit. */
export const nextPollAt = (times: {
  readonly createdAt: number
  readonly now: number
  readonly limitMs: number
}): number => {
  const age = Math.max(0, times.now - times.createdAt)
  const wait = Math.max(POLL_MS[0], Math.min(POLL_MS[1], age / 10))
  return Math.max(times.now + POLL_MS[0], Math.min(times.now + wait, times.createdAt + times.limitMs))
}
