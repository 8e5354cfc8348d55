/**
 * What becomes of a video that was ordered, as pure rules: queued -> in_progress -> completed or failed, never back, and an
 * ended video never changes. It is charged when it is completed; a failed one costs nothing.
 */
import type { VideoFailure, VideoProgress } from "../models/MediaProvider.ts"
import type { UpstreamFailed } from "../models/UpstreamFailed.ts"
import type { VideoStatus } from "./Video.ts"

/** The longest that a video may take, times the replica's scale. */
export const VIDEO_LIMIT_MS = 60 * 60_000
/** A video that its provider does not know is given up after this part of the limit: two minutes. */
const ABSENT_PART = 30
/** An order that nobody took, for a wrong key or a server that is away, is given up after this part: ten minutes. */
const ORDER_PART = 6
/** What is told of an order that will never be a video. */
const REFUSALS: ReadonlySet<UpstreamFailed["reason"]> = new Set(["refused", "too_large", "unserved"])
/** Between two looks, in milliseconds: young videos are looked at more often. */
const LOOK_MS = [1_000, 15_000] as const

export interface VideoState {
  readonly status: VideoStatus
  readonly percent: number
  readonly failure: VideoFailure | null
  /** The provider's name for it; null: it was not asked yet, or its answer was lost. */
  readonly reference: string | null
}

/** What the provider said: to the order, or when it was asked how far it is. */
export type VideoNews =
  | { readonly _tag: "Begun"; readonly reference: string }
  | { readonly _tag: "Progress"; readonly progress: VideoProgress }
  | { readonly _tag: "Silent"; readonly reason: UpstreamFailed["reason"] }

export const isEnded = (status: VideoStatus): boolean => status === "completed" || status === "failed"

/** The next state; `limitMs` after `createdAt` it has failed, whatever the provider says later. */
export const advance = (
  state: VideoState,
  news: VideoNews,
  times: { readonly createdAt: number; readonly now: number; readonly limitMs: number }
): VideoState => {
  if (isEnded(state.status)) return state
  const next = told(state, news, (part) => times.now >= times.createdAt + times.limitMs / part)
  return !isEnded(next.status) && times.now >= times.createdAt + times.limitMs ? failed(next, "video_timeout") : next
}

/** `past`: whether this part of its limit is over. */
const told = (state: VideoState, news: VideoNews, past: (part: number) => boolean): VideoState => {
  switch (news._tag) {
    case "Begun":
      return { ...state, reference: news.reference }
    // What is refused can't be helped by asking again; what was begun may still be made while its provider is silent.
    case "Silent": {
      const waits = news.reason === "overloaded" || news.reason === "timeout"
      const untaken = !waits && state.reference === null && past(ORDER_PART)
      return REFUSALS.has(news.reason) || untaken ? failed(state, "video_generation_failed") : state
    }
    case "Progress":
      return after(state, news.progress, past(ABSENT_PART))
  }
}

/** `old`: a video that the provider does not know by now will never be. */
const after = (state: VideoState, progress: VideoProgress, old: boolean): VideoState => {
  switch (progress._tag) {
    case "Waiting":
      return state
    case "Absent":
      return old ? failed(state, "video_generation_failed") : state
    case "Filming":
      return { ...state, status: "in_progress", percent: Math.max(state.percent, within(progress.percent)) }
    case "Completed":
      return { ...state, status: "completed", percent: 100 }
    case "Failed":
      return failed(state, progress.code)
  }
}

const failed = (state: VideoState, failure: VideoFailure): VideoState => ({ ...state, status: "failed", failure })

/** Below a hundred: that is said when it is completed. */
const within = (percent: number): number => Math.max(0, Math.min(99, Math.floor(percent) || 0))

/** When to look again: a tenth of its age, within bounds, and never past the limit. */
export const lookAgain = (times: {
  readonly createdAt: number
  readonly now: number
  readonly limitMs: number
}): number => {
  const age = Math.max(0, times.now - times.createdAt)
  const wait = Math.max(LOOK_MS[0], Math.min(LOOK_MS[1], age / 10))
  return Math.max(times.now + LOOK_MS[0], Math.min(times.now + wait, times.createdAt + times.limitMs))
}
