/**
 * Fetches the image of a video order that the caller named by link, before money is held. A fetched image is checked
 * like a sent one. If links are not allowed, the order is refused.
 */
import { Effect } from "effect"
import { Allowance, type ImageFetchService } from "../inference/images/ImageFetch.ts"
import type { ModelRequestInvalid } from "../models/InferenceErrors.ts"
import { MAX_IMAGE_BYTES } from "../inference/images/LinkedImages.ts"
import type { UpstreamFailed } from "../models/UpstreamFailed.ts"
import { decodeDataUrl, NOT_DATA_URL, invalidImage, type VideoImage } from "./VideoRequest.ts"

/** `owner`: the workspace; each has a fair share of concurrent fetches. */
export const fetchVideoImage = (
  images: ImageFetchService | undefined,
  owner: string,
  link: string
): Effect.Effect<VideoImage, ModelRequestInvalid | UpstreamFailed> =>
  images === undefined
    ? Effect.fromResult(invalidImage(NOT_DATA_URL))
    : images.fetch(owner, link, new Allowance(MAX_IMAGE_BYTES)).pipe(
        Effect.catchTag("ImageUnfetched", ({ why }) => Effect.fromResult(invalidImage(`could not be fetched: ${why}`))),
        Effect.flatMap((url) => Effect.fromResult(decodeDataUrl(url)))
      )
