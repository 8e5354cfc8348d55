/**
 * The image of a video whose caller names it by link: fetched before anything is held, through the one safe client, and
 * then no other than an image that was sent. Where links are not allowed it is refused.
 */
import { Effect } from "effect"
import { Allowance, type ImageFetchService } from "../inference/images/ImageFetch.ts"
import type { ModelRequestInvalid } from "../models/InferenceErrors.ts"
import { MAX_IMAGE_BYTES } from "../inference/images/LinkedImages.ts"
import type { UpstreamFailed } from "../models/UpstreamFailed.ts"
import { imageIn, NO_DATA, refused, type VideoImage } from "./VideoRequest.ts"

/** `owner`: for whom; each has a share of what is fetched at a time. */
export const imageAt = (
  images: ImageFetchService | undefined,
  owner: string,
  link: string
): Effect.Effect<VideoImage, ModelRequestInvalid | UpstreamFailed> =>
  images === undefined
    ? Effect.fromResult(refused(NO_DATA))
    : images.fetch(owner, link, new Allowance(MAX_IMAGE_BYTES)).pipe(
        Effect.catchTag("ImageUnfetched", ({ why }) => Effect.fromResult(refused(`could not be fetched: ${why}`))),
        Effect.flatMap((url) => Effect.fromResult(imageIn(url)))
      )
