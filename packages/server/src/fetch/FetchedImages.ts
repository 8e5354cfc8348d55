/** `ImageFetch` over `SafeFetch`: accepts only responses with an image type, and returns the image as a `data:` URL. */
import { ImageFetch, ImageUnfetched } from "@sluice/domain/inference/images/ImageFetch"
import { MAX_IMAGE_BYTES } from "@sluice/domain/inference/images/LinkedImages"
import { UpstreamFailed } from "@sluice/domain/models/UpstreamFailed"
import { Effect, Layer } from "effect"
import type { FetchReason } from "./FetchFailed.ts"
import { SafeFetch } from "./SafeFetch.ts"

/** More specific messages for images. */
const IMAGE_MESSAGES: Partial<Record<FetchReason, string>> = {
  type: "its Content-Type must be that of an image (image/png, ...)",
  too_large: `all images of a request may have at most ${MAX_IMAGE_BYTES} bytes together`
}

const IMAGE = /^image\/[a-z0-9.+-]{1,64}$/

export const layer = Layer.effect(
  ImageFetch,
  Effect.map(SafeFetch, (client) => ({
    fetch: (owner, url, allowance) =>
      client.get(owner, url, { accept: "image/*", accepts: (type) => IMAGE.test(type), allowance }).pipe(
        Effect.map(({ bytes, mediaType }) => `data:${mediaType};base64,${bytes.toString("base64")}`),
        Effect.mapError((failed) =>
          failed.reason === "busy"
            ? new UpstreamFailed({ reason: "overloaded" })
            : new ImageUnfetched({ why: IMAGE_MESSAGES[failed.reason] ?? failed.message })
        )
      )
  }))
)
