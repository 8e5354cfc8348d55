/**
 * A question whose images are links becomes one whose images are there, before any model sees it: each is fetched once, a few
 * at a time, and all together are no larger than what a caller could have sent instead. A link that gives no image refuses the
 * whole question, with the path of that link. A question without links is not touched.
 */
import { Effect, Result } from "effect"
import { type ChatImage, type ChatMessage, type ChatRequest } from "../../models/ChatRequest.ts"
import { Allowance, type ImageFetchService } from "./ImageFetch.ts"
import { isLink, noData, plainImageUrl } from "./ImageUrl.ts"
import { ModelRequestInvalid } from "../../models/InferenceErrors.ts"
import type { UpstreamFailed } from "../../models/UpstreamFailed.ts"

export const MAX_LINKS = 16
/** At a time, of one request. */
const CONCURRENCY = 4
/** What a body of 20 MiB that is all base64 can hold. */
export const MAX_IMAGE_BYTES = 15_728_640

/** An image that is a link, and where it stands in the body. */
export interface ImageLink {
  readonly image: ChatImage
  readonly param: string
}

const NONE: ReadonlyArray<ImageLink> = []

/** The links of a request, in order. */
export const linksOf = ({ messages }: ChatRequest): ReadonlyArray<ImageLink> => {
  let links: Array<ImageLink> | undefined
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index]!
    if (message.images.length === 0) continue
    message.parts?.forEach((image, at) => {
      if (typeof image === "string" || !isLink(image.url)) return
      links ??= []
      links.push({ image, param: `messages.${index}.content.${at}.image_url.url` })
    })
  }
  return links ?? NONE
}

/** Why they will not be fetched; undefined: they may be. */
export const linksRefused = (links: ReadonlyArray<ImageLink>, images: ImageFetchService | undefined) => {
  const param = links[images === undefined ? 0 : MAX_LINKS]?.param
  if (param === undefined) return undefined
  return images === undefined
    ? { param, message: noData(param) }
    : refusal(param, `a request has at most ${MAX_LINKS} images by link; send the others as data: URLs`)
}

/** The same request with its images in place. */
export const withImages = (
  images: ImageFetchService,
  owner: string,
  request: ChatRequest,
  links: ReadonlyArray<ImageLink>
): Effect.Effect<ChatRequest, ModelRequestInvalid | UpstreamFailed> =>
  Effect.suspend(() => {
    const allowance = new Allowance(MAX_IMAGE_BYTES - sentBytes(request))
    const fetched = Effect.forEach(
      links,
      ({ image, param }) =>
        Effect.flatMap(
          Effect.catchTag(images.fetch(owner, image.url, allowance), "ImageUnfetched", ({ why }) =>
            Effect.fail(new ModelRequestInvalid({ ...refusal(param, why), code: null }))
          ),
          (url) => {
            const plain = plainImageUrl(url, param)
            return Result.isSuccess(plain)
              ? Effect.succeed([image, { ...image, url: plain.success }] as const)
              : Effect.fail(new ModelRequestInvalid({ param, message: plain.failure, code: null }))
          }
        ),
      { concurrency: CONCURRENCY }
    )
    return Effect.map(fetched, (pairs) => placed(request, new Map(pairs)))
  })

const refusal = (param: string, why: string) => ({ param, message: `Invalid value for '${param}': ${why}` })

/** Bytes of the images that came with the request, about. */
const sentBytes = ({ messages }: ChatRequest): number =>
  messages.reduce(
    (sum, { images }) => images.reduce((own, { url }) => own + (isLink(url) ? 0 : url.length * 0.75), sum),
    0
  )

const placed = (request: ChatRequest, fetched: ReadonlyMap<ChatImage, ChatImage>): ChatRequest => ({
  ...request,
  messages: request.messages.map((message): ChatMessage =>
    message.images.length === 0
      ? message
      : {
          ...message,
          images: message.images.map((image) => fetched.get(image) ?? image),
          parts: message.parts?.map((part) => (typeof part === "string" ? part : (fetched.get(part) ?? part)))
        }
  )
})
