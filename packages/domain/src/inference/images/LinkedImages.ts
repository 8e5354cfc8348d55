/**
 * Replaces the image links of a chat request by the images, before a model sees it. Each link is fetched once, a few at
 * a time. All images together are no larger than those that a body can contain. A link without an image refuses the
 * whole request, with the path of that link. A request without links is not changed.
 */
import { Effect, Result } from "effect"
import { type ChatImage, type ChatMessage, type ChatRequest } from "../../models/ChatRequest.ts"
import { Allowance, type ImageFetchService } from "./ImageFetch.ts"
import { isLink, notImageUrl, plainImageUrl } from "./ImageUrl.ts"
import { ModelRequestInvalid } from "../../models/InferenceErrors.ts"
import type { UpstreamFailed } from "../../models/UpstreamFailed.ts"

export const MAX_LINKS = 16
/** Concurrent fetches of one request. */
const CONCURRENCY = 4
/** Bytes of images that a body of 20 MiB in base64 can contain. */
export const MAX_IMAGE_BYTES = 15_728_640

/** An image that is a link, with its path in the body. */
export interface ImageLink {
  readonly image: ChatImage
  readonly param: string
}

const NONE: ReadonlyArray<ImageLink> = []

/** Returns the links of a request, in order. */
export const linksOf = ({ messages }: ChatRequest): ReadonlyArray<ImageLink> => {
  let links: Array<ImageLink> | undefined
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index]!
    if (message.images.length === 0) continue
    message.parts?.forEach((image, partIndex) => {
      if (typeof image === "string" || !isLink(image.url)) return
      links ??= []
      links.push({ image, param: `messages.${index}.content.${partIndex}.image_url.url` })
    })
  }
  return links ?? NONE
}

/** Returns the reason why the links will not be fetched; undefined if they may be. */
export const findLinkMistake = (links: ReadonlyArray<ImageLink>, images: ImageFetchService | undefined) => {
  const param = links[images === undefined ? 0 : MAX_LINKS]?.param
  if (param === undefined) return undefined
  return images === undefined
    ? { param, message: notImageUrl(param) }
    : refusal(param, `a request has at most ${MAX_LINKS} images by link; send the others as data: URLs`)
}

/** Returns the same request with its images fetched. */
export const fetchLinkedImages = (
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
    return Effect.map(fetched, (pairs) => replaceImages(request, new Map(pairs)))
  })

const refusal = (param: string, why: string) => ({ param, message: `Invalid value for '${param}': ${why}` })

/** The approximate bytes of the images that the request itself contains. */
const sentBytes = ({ messages }: ChatRequest): number =>
  messages.reduce(
    (sum, { images }) => images.reduce((own, { url }) => own + (isLink(url) ? 0 : url.length * 0.75), sum),
    0
  )

const replaceImages = (request: ChatRequest, fetched: ReadonlyMap<ChatImage, ChatImage>): ChatRequest => ({
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
