/** A video as it stands in the table, and what becomes of the row for callers and for the rules. */
import { Schema } from "effect"
import type { NanoUsd } from "../billing/Money.ts"
import { videoFailures } from "../models/MediaProvider.ts"
import { type Video, VIDEO_STATUSES } from "./Video.ts"
import type { VideoState } from "./VideoLifecycle.ts"
import type { VideoImage } from "./VideoRequest.ts"

export interface NewVideo {
  readonly id: string
  readonly workspaceId: string
  readonly environmentId: string
  readonly keyId: string
  readonly model: string
  readonly prompt: string
  readonly size: string
  readonly seconds: number
  readonly price: NanoUsd
  readonly image: VideoImage | undefined
  /** The caller's name for this order: the same one twice is one order. */
  readonly idempotencyKey?: string | undefined
}

/** The columns that are shown to the caller. */
export const SeenVideo = Schema.Struct({
  id: Schema.String,
  model: Schema.String,
  prompt: Schema.String,
  size: Schema.String,
  seconds: Schema.Number,
  status: Schema.Literals(VIDEO_STATUSES),
  percent: Schema.Number,
  failure: Schema.NullOr(Schema.Literals(videoFailures)),
  reference: Schema.NullOr(Schema.String),
  cost: Schema.NullOr(Schema.BigInt),
  created_at: Schema.Date,
  ended_at: Schema.NullOr(Schema.Date)
})
export type SeenVideo = typeof SeenVideo.Type

/** The columns that the reconciler reads beside. */
export const VideoRow = Schema.Struct({
  ...SeenVideo.fields,
  price: Schema.BigInt,
  picture: Schema.NullOr(Schema.Uint8Array),
  picture_type: Schema.NullOr(Schema.String),
  deleted_at: Schema.NullOr(Schema.Date),
  fence: Schema.BigInt,
  events: Schema.BigInt
})
export type VideoRow = typeof VideoRow.Type

export const stateOf = ({ failure, percent, reference, status }: VideoRow): VideoState => ({
  status,
  percent,
  failure,
  reference
})

export const videoOf = (row: SeenVideo): Video => ({
  id: row.id,
  status: row.status,
  model: row.model,
  prompt: row.prompt,
  size: row.size,
  seconds: row.seconds,
  percent: row.percent,
  failure: row.failure,
  cost: row.cost,
  createdAt: row.created_at.getTime(),
  endedAt: row.ended_at?.getTime() ?? null
})
