/** Films of one upstream, by its own asynchronous API: ordered as a form, as stock clients order, looked at, forgotten. */
import type { VideoProgress, VideoTask } from "@sluice/domain/models/MediaProvider"
import { Effect } from "effect"
import { FormData } from "undici"
import { callFailed, type CallFailed } from "../upstream/CallFailed.ts"
import { field, isRecord, number, text } from "../upstream/Loose.ts"
import { checked, json } from "../upstream/Reply.ts"
import type { Call } from "../upstream/Upstreams.ts"

const MAX_BYTES = 1024 * 1024

/** Gives the upstream's own name for it. */
export const orderCall =
  (task: VideoTask): Call<string, never> =>
  (lease) =>
    Effect.suspend(() => {
      const form = new FormData()
      form.append("model", lease.upstream.model)
      form.append("prompt", task.prompt)
      form.append("seconds", String(task.seconds))
      form.append("size", task.size)
      if (task.image !== undefined) {
        const { bytes, contentType } = task.image
        const image = new Blob([new Uint8Array(bytes)], { type: contentType })
        form.append("input_reference", image, `picture.${/\/(\w+)/.exec(contentType)?.[1] ?? "png"}`)
      }
      const exchange = lease.send({
        method: "POST",
        path: "/videos",
        accept: "application/json",
        headers: ["idempotency-key", task.id],
        body: form,
        mostBytes: MAX_BYTES
      })
      return Effect.flatMap(json(exchange, lease), (value) => {
        const id = text(field(value, "id"))
        return id !== undefined && /^[!-~]{1,512}$/.test(id) ? Effect.succeed(id) : Effect.fail(callFailed("malformed"))
      })
    })

export const lookCall =
  (id: string): Call<VideoProgress, never> =>
  (lease) =>
    Effect.suspend(() => {
      const exchange = lease.send({
        method: "GET",
        path: `/videos/${encodeURIComponent(id)}`,
        accept: "application/json",
        mostBytes: MAX_BYTES
      })
      return json(exchange, lease).pipe(
        Effect.flatMap((value) => {
          const progress = progressOf(value)
          return progress === undefined ? Effect.fail(callFailed("malformed")) : Effect.succeed(progress)
        }),
        Effect.catchIf(isUnknown, ({ status }) => Effect.succeed(status === 410 ? LOST : ABSENT))
      )
    })

/** What an upstream does not know, or does not forget, is forgotten. */
export const removeCall =
  (id: string): Call<void, never> =>
  (lease) =>
    Effect.suspend(() => {
      const exchange = lease.send({
        method: "DELETE",
        path: `/videos/${encodeURIComponent(id)}`,
        accept: "application/json",
        mostBytes: MAX_BYTES
      })
      return Effect.catchIf(
        checked(exchange, lease),
        (error) => isUnknown(error) || error.status === 405 || error.status === 501,
        () => Effect.void
      )
    })

export const isUnknown = (error: CallFailed): boolean =>
  error.fault === "status" && (error.status === 404 || error.status === 410)

/** It has forgotten it: there will be no film. */
export const LOST: VideoProgress = { _tag: "Failed", code: "video_generation_failed" }
/** It does not know it: not yet, or not any more. */
const ABSENT: VideoProgress = { _tag: "Absent" }

/** Undefined: it is none. */
export const progressOf = (value: unknown): VideoProgress | undefined => {
  const status = text(field(value, "status"))?.toLowerCase()
  if (status === undefined || !isRecord(value)) return undefined
  if (DONE.has(status)) return { _tag: "Completed" }
  if (WAITING.has(status)) return { _tag: "Waiting" }
  if (FILMING.has(status)) return { _tag: "Filming", percent: number(value["progress"]) ?? 0 }
  // A word that nobody knows is no end, unless it says what failed.
  if (!FAILED.has(status) && (value["error"] ?? null) === null) return { _tag: "Waiting" }
  const told = [value["error"], value["error_details"]].map((error) => text(field(error, "code")) ?? text(error) ?? "")
  const blocked = told.some((code) => /moderation|content_policy|safety/i.test(code))
  return { _tag: "Failed", code: blocked ? "moderation_blocked" : "video_generation_failed" }
}

/** OpenAI's words, and what others say for them. */
const FAILED = new Set([
  "failed",
  "error",
  "cancelled",
  "canceled",
  "rejected",
  "expired",
  "blocked",
  "moderated",
  "deleted"
])
const DONE = new Set(["completed", "succeeded", "success", "done"])
const WAITING = new Set(["queued", "pending", "created", "submitted"])
const FILMING = new Set(["in_progress", "processing", "running", "generating"])
