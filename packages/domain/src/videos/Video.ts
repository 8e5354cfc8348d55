/** A video that was ordered (interface: Video generation job): what a caller sees of it. */
import type { NanoUsd } from "../billing/Money.ts"
import { Schema } from "effect"
import type { VideoFailure } from "../models/MediaProvider.ts"

export const VIDEO_STATUSES = ["queued", "in_progress", "completed", "failed"] as const
export type VideoStatus = (typeof VIDEO_STATUSES)[number]

export interface Video {
  readonly id: string
  readonly status: VideoStatus
  readonly model: string
  readonly prompt: string
  readonly size: string
  readonly seconds: number
  /** 0 to 100. */
  readonly percent: number
  readonly failure: VideoFailure | null
  /** Null until it has ended; a failed video costs nothing. */
  readonly cost: NanoUsd | null
  /** Unix milliseconds. */
  readonly createdAt: number
  readonly endedAt: number | null
}

export class VideoNotFound extends Schema.TaggedError<VideoNotFound>()("VideoNotFound", { id: Schema.String }) {}

/** The store was lost while the video was ordered: it may be there. `hasIdempotencyKey`: the same order, said again, is one. */
export class VideoOutcomeUnknown extends Schema.TaggedError<VideoOutcomeUnknown>()("VideoOutcomeUnknown", {
  id: Schema.String,
  hasIdempotencyKey: Schema.Boolean
}) {}

/** There are no bytes yet, or there never will be. */
export class VideoWithoutBytes extends Schema.TaggedError<VideoWithoutBytes>()("VideoWithoutBytes", {
  status: Schema.Literals(["queued", "in_progress", "failed"])
}) {}

/** It was made, and who made it does not give it out, or has forgotten it. */
export class VideoWithheld extends Schema.TaggedError<VideoWithheld>()("VideoWithheld", {}) {}

/** It is still being made: what is ordered is paid for. */
export class VideoNotEnded extends Schema.TaggedError<VideoNotEnded>()("VideoNotEnded", {}) {}

/** The key of this order was used for another one. */
export class VideoOrderDiffers extends Schema.TaggedError<VideoOrderDiffers>()("VideoOrderDiffers", {}) {}

/** The video ends before the bytes that were asked for begin. */
export class RangeUnsatisfiable extends Schema.TaggedError<RangeUnsatisfiable>()("RangeUnsatisfiable", {
  size: Schema.Int
}) {}
