/**
 * The endpoints of `/videos` over the domain's `Videos`: orders as JSON or as a form, lists and objects as JSON, videos
 * as bytes.
 */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import type { InferenceFailure } from "@sluice/api/inference/InferenceErrorTable"
import { videoIdOf, videoListText, videoToWire, videoWireId } from "@sluice/api/videos/VideoWire"
import { ModelRequestInvalid } from "@sluice/domain/models/InferenceErrors"
import { VideoNotFound } from "@sluice/domain/videos/Video"
import { MAX_VIDEO_PAGE, type VideoPage } from "@sluice/domain/videos/VideoListStore"
import { decodeVideo, MAX_VIDEO_IMAGE_BYTES } from "@sluice/domain/videos/VideoRequest"
import { Videos } from "@sluice/domain/videos/Videos"
import { Effect } from "effect"
import { sendBytes } from "../http/BinaryAnswer.ts"
import { rangeOf } from "../http/ByteRange.ts"
import { isForm, type UploadedForm } from "../http/UploadedForm.ts"
import { type Caller, json, type Reply } from "../inference/CallerGate.ts"
import { type Routed, RoutedRequests } from "../inference/RoutedRequests.ts"

const DEFAULT_PAGE = 20
const CONTENT_TYPE = "video/mp4"

const IMAGE = "input_reference"
const VIDEO_FORM = {
  file: IMAGE,
  maxFileBytes: MAX_VIDEO_IMAGE_BYTES,
  longField: `${IMAGE}[image_url]`
}

type Answer = Effect.Effect<Reply, InferenceFailure>

type OfVideo = Routed & { readonly params: { readonly id: string } }

export const makeVideos = Effect.gen(function* () {
  const videos = yield* Videos
  const { gated, withForm, withJson } = yield* RoutedRequests

  const order = (caller: Caller, request: ReturnType<typeof decodeVideo>): Answer =>
    Effect.flatMap(Effect.fromResult(request), (checked) =>
      Effect.map(videos.submit(caller.principal, checked), ({ replayed, video }) =>
        json(200, JSON.stringify(videoToWire(video)), {
          ...caller.headers,
          ...(replayed ? { "idempotent-replayed": "true" } : {})
        })
      )
    )

  const fromForm = (
    caller: Caller,
    { fields: sent, files }: UploadedForm,
    idempotencyKey: string | undefined
  ): Answer => {
    const fields = withReference(sent)
    const file = imageIn(files)
    if (file === undefined) return order(caller, decodeVideo(fields, { idempotencyKey }))
    return Effect.flatMap(
      Effect.promise(() => file.arrayBuffer()),
      (buffer) =>
        order(
          caller,
          decodeVideo(fields, {
            idempotencyKey,
            image: { bytes: new Uint8Array(buffer), contentType: file.type }
          })
        )
    )
  }

  const sendContent = Effect.fnUntraced(function* (caller: Caller, { params, request }: OfVideo) {
    const { headers } = NodeHttpServerRequest.toIncomingMessage(request)
    const variant = yield* singleValue(queryOf(request.url), "variant")
    if (variant !== undefined && variant !== "video") return yield* invalidParam("variant", "only 'video' is available")
    // The endpoint sends no validator for this version of the bytes, so no `If-Range` can match and the range is
    // ignored.
    const range = headers["if-range"] === undefined ? rangeOf(headers.range) : undefined
    const read = yield* videos.read(caller.principal, yield* decodeId(params.id), range)
    const answer = { ...read, partial: range !== undefined, contentType: CONTENT_TYPE }
    yield* sendBytes(NodeHttpServerRequest.toServerResponse(request), answer, caller.headers)
    return undefined
  })

  return {
    create: ({ request }: Routed) => {
      const key = request.headers["idempotency-key"]
      return isForm(NodeHttpServerRequest.toIncomingMessage(request))
        ? withForm(request, VIDEO_FORM, (caller, form) => fromForm(caller, form, key))
        : withJson(request, (caller, body) => order(caller, decodeVideo(body, { idempotencyKey: key })))
    },

    list: ({ request }: Routed) =>
      gated(request, "inference:read", (caller) =>
        Effect.flatMap(pageOf(queryOf(request.url)), (page) =>
          Effect.map(videos.list(caller.principal, page), (found) =>
            json(200, videoListText(found.videos, found.hasMore), caller.headers)
          )
        )
      ),

    get: ({ params, request }: OfVideo) =>
      gated(request, "inference:read", (caller) =>
        Effect.flatMap(decodeId(params.id), (uuid) =>
          Effect.map(videos.show(caller.principal, uuid), (video) =>
            json(200, JSON.stringify(videoToWire(video)), caller.headers)
          )
        )
      ),

    remove: ({ params, request }: OfVideo) =>
      gated(request, "inference:write", (caller) =>
        Effect.flatMap(decodeId(params.id), (uuid) =>
          Effect.as(
            videos.remove(caller.principal, uuid),
            json(200, JSON.stringify({ id: videoWireId(uuid), object: "video.deleted", deleted: true }), caller.headers)
          )
        )
      ),

    download: (asked: OfVideo) => gated(asked.request, "inference:read", (caller) => sendContent(caller, asked))
  }
})

const queryOf = (url: string): URLSearchParams => {
  const at = url.indexOf("?")
  return new URLSearchParams(at < 0 ? "" : url.slice(at + 1))
}

/**
 * OpenAI's clients send an object in a form as the fields `input_reference[image_url]` and `input_reference[file_id]`.
 */
const withReference = (fields: UploadedForm["fields"]): Readonly<Record<string, unknown>> => {
  const inner = Object.entries(fields).flatMap(([name, value]) => {
    const key = REFERENCE_FIELD.exec(name)?.[1]
    return key === undefined ? [] : [[key, value] as const]
  })
  return inner.length === 0 ? fields : { [IMAGE]: Object.fromEntries(inner), ...fields }
}

/** Some clients send the file itself under such a name. */
const imageIn = (files: UploadedForm["files"]): Blob | undefined =>
  [...files].find(([name]) => name === IMAGE || REFERENCE_FIELD.test(name))?.[1].content

const REFERENCE_FIELD = /^input_reference\[(\w*)\]$/

const decodeId = (id: string): Effect.Effect<string, VideoNotFound> => {
  const uuid = videoIdOf(id)
  return uuid === undefined ? Effect.fail(new VideoNotFound({ id })) : Effect.succeed(uuid)
}

const invalidParam = (param: string, why: string) =>
  new ModelRequestInvalid({ message: `Invalid value for '${param}': ${why}`, param, code: null })

/** Returns the parameter's value. Fails when it is repeated, because either value could be meant. */
const singleValue = (query: URLSearchParams, name: string): Effect.Effect<string | undefined, ModelRequestInvalid> => {
  const [value, ...others] = query.getAll(name)
  return others.length > 0 ? Effect.fail(invalidParam(name, "must be sent only once")) : Effect.succeed(value)
}

const pageOf = (query: URLSearchParams): Effect.Effect<VideoPage, ModelRequestInvalid> =>
  Effect.gen(function* () {
    const [limit, order, after] = [
      yield* singleValue(query, "limit"),
      yield* singleValue(query, "order"),
      yield* singleValue(query, "after")
    ]
    const count = limit === undefined ? DEFAULT_PAGE : /^\d{1,3}$/.test(limit) ? Number(limit) : 0
    if (count < 1 || count > MAX_VIDEO_PAGE) return yield* invalidParam("limit", `must be from 1 to ${MAX_VIDEO_PAGE}`)
    if (order !== undefined && order !== "asc" && order !== "desc")
      return yield* invalidParam("order", "must be asc or desc")
    const from = after === undefined ? undefined : videoIdOf(after)
    if (after !== undefined && from === undefined) return yield* invalidParam("after", "must be the id of a video")
    return { limit: count, after: from, order: order ?? "desc" }
  })
