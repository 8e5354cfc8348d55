/** A video order as its caller sees it (interface: Video generation job). */
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
  /** Nano-USD; null until the video has ended. A failed video costs nothing. */
  readonly cost: NanoUsd | null
  /** Unix milliseconds. */
  readonly createdAt: number
  readonly endedAt: number | null
}

export class VideoNotFound extends Schema.TaggedError<VideoNotFound>()("VideoNotFound", { id: Schema.String }) {}

/**
 * The connection to the database was lost while the video was ordered, so the order may exist. With an Idempotency-Key
 * (`hasIdempotencyKey`) a retry of the order creates it once.
 */
export class VideoOutcomeUnknown extends Schema.TaggedError<VideoOutcomeUnknown>()("VideoOutcomeUnknown", {
  id: Schema.String,
  hasIdempotencyKey: Schema.Boolean
}) {}

/** The video has no bytes yet, or never will. */
export class VideoWithoutBytes extends Schema.TaggedError<VideoWithoutBytes>()("VideoWithoutBytes", {
  status: Schema.Literals(["queued", "in_progress", "failed"])
}) {}

/** The video was completed, but its provider does not return it any more. */
export class VideoWithheld extends Schema.TaggedError<VideoWithheld>()("VideoWithheld", {}) {}

/** The video is still in progress. An order cannot be cancelled, so it is paid for. */
export class VideoNotEnded extends Schema.TaggedError<VideoNotEnded>()("VideoNotEnded", {}) {}

/** The idempotency key of this order was used for a different order. */
export class VideoOrderDiffers extends Schema.TaggedError<VideoOrderDiffers>()("VideoOrderDiffers", {}) {}

/** The requested range begins after the end of the video. */
export class RangeUnsatisfiable extends Schema.TaggedError<RangeUnsatisfiable>()("RangeUnsatisfiable", {
  size: Schema.Int
}) {}
