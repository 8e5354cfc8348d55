/** A video as it stands in the table, and what becomes of the row for callers and for the rules. */
import type { NanoUsd } from "../billing/Money.ts"
import type { VideoFailure } from "../models/MediaProvider.ts"
import type { Video, VideoStatus } from "./Video.ts"
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

export interface VideoRow {
  readonly id: string
  readonly model: string
  readonly prompt: string
  readonly size: string
  readonly seconds: number
  readonly price: bigint
  readonly picture: Uint8Array | null
  readonly picture_type: string | null
  readonly status: VideoStatus
  readonly percent: number
  readonly failure: VideoFailure | null
  readonly reference: string | null
  readonly cost: bigint | null
  readonly created_at: Date
  readonly ended_at: Date | null
  readonly deleted_at: Date | null
  readonly fence: bigint
  readonly events: bigint
}

export const stateOf = ({ failure, percent, reference, status }: VideoRow): VideoState => ({
  status,
  percent,
  failure,
  reference
})

/** The columns shown to the caller. */
export type SeenVideo = Omit<VideoRow, "price" | "picture" | "picture_type" | "deleted_at" | "fence" | "events">

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
