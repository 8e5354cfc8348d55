/**
 * Videos on the wire: OpenAI's Video object, with `error` as a text, as the interface requires (decisions: POST
 * /videos).
 */
import { toUsd } from "@sluice/domain/billing/Money"
import type { VideoFailure } from "@sluice/domain/models/MediaProvider"
import { type Video, VIDEO_STATUSES } from "@sluice/domain/videos/Video"
import * as Schema from "effect/Schema"
import { alwaysNull, nullable } from "../infra/WireFields.ts"

const Time = Schema.Int.annotate({ description: "Unix time in seconds" })

export const VideoWire = Schema.Struct({
  id: Schema.String,
  object: Schema.Literal("video"),
  created_at: Time,
  completed_at: nullable(Time),
  expires_at: alwaysNull,
  model: Schema.String,
  status: Schema.Literals(VIDEO_STATUSES),
  progress: Schema.Int.annotate({ description: "0 to 100" }),
  prompt: Schema.String,
  seconds: Schema.String,
  size: Schema.String,
  remixed_from_video_id: alwaysNull,
  error: Schema.optionalKey(Schema.String.annotate({ description: "The reason for the failure" })),
  error_details: Schema.optionalKey(Schema.Struct({ code: Schema.String, message: Schema.String })),
  usage: Schema.optionalKey(
    Schema.Struct({ cost: Schema.Finite.annotate({ description: "USD; present once the video has ended" }) })
  )
}).annotate({ identifier: "Video" })

export const VideoListWire = Schema.Struct({
  object: Schema.Literal("list"),
  data: Schema.Array(VideoWire),
  first_id: nullable(Schema.String),
  last_id: nullable(Schema.String),
  has_more: Schema.Boolean
}).annotate({ identifier: "VideoList" })

export const VideoDeletedWire = Schema.Struct({
  id: Schema.String,
  object: Schema.Literal("video.deleted"),
  deleted: Schema.Literal(true)
}).annotate({ identifier: "VideoDeleted" })

const PREFIX = "video_"
export const videoWireId = (id: string): string => PREFIX + id

const UUID = /^video_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

/** Returns the id inside the wire id; undefined where the text is no id of a video. */
export const videoIdOf = (wire: string): string | undefined => UUID.exec(wire)?.[1]

const MESSAGES: Readonly<Record<VideoFailure, string>> = {
  moderation_blocked: "The model refuses to make this video. Change the prompt or the image.",
  video_generation_failed: "The model could not make this video. It cost nothing; try again.",
  video_timeout: "The video was not finished in time. It cost nothing; try again."
}

export const videoToWire = (video: Video): typeof VideoWire.Type => ({
  id: videoWireId(video.id),
  object: "video",
  created_at: Math.floor(video.createdAt / 1_000),
  completed_at: video.status === "completed" && video.endedAt !== null ? Math.floor(video.endedAt / 1_000) : null,
  expires_at: null,
  model: video.model,
  status: video.status,
  progress: video.percent,
  prompt: video.prompt,
  seconds: String(video.seconds),
  size: video.size,
  remixed_from_video_id: null,
  ...(video.failure === null
    ? {}
    : {
        error: MESSAGES[video.failure],
        error_details: { code: video.failure, message: MESSAGES[video.failure] }
      }),
  ...(video.cost === null ? {} : { usage: { cost: toUsd(video.cost) } })
})

export const videoListText = (videos: ReadonlyArray<Video>, hasMore: boolean): string => {
  const data = videos.map(videoToWire)
  return JSON.stringify({
    object: "list",
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: hasMore
  } satisfies typeof VideoListWire.Type)
}
