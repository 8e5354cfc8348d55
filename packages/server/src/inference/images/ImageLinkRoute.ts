/** `GET /images/{secret}`: serves an image by its link. The secret is the only authorization. */
import { imageFormatOf, imageType } from "@sluice/domain/models/ImageFormat"
import { ImageLinks } from "@sluice/domain/inference/images/ImageLinks"
import { Effect, Layer } from "effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { infraError, notFound } from "../../http/EdgeErrors.ts"
import { RequestId } from "../../http/RequestId.ts"
import type { Route } from "../../http/RouteTable.ts"

export const IMAGE_LINK_PATH = "/images"
/** For the table of routes. */
export const imageLinkRoute: Route = { method: "GET", path: `${IMAGE_LINK_PATH}/:secret` }

const SECRET = /^[\w-]{16,64}$/

export const imageLink = Layer.effectDiscard(
  Effect.gen(function* () {
    const router = yield* HttpRouter.HttpRouter
    const links = yield* ImageLinks
    yield* router.add(
      "GET",
      `${IMAGE_LINK_PATH}/:secret`,
      Effect.gen(function* () {
        const { secret = "" } = yield* HttpRouter.params
        const bytes = SECRET.test(secret) ? yield* links.find(secret) : undefined
        if (bytes === undefined) return infraError(notFound, yield* RequestId)
        const format = imageFormatOf(bytes)
        const contentType = format === undefined ? "application/octet-stream" : imageType(format)
        return HttpServerResponse.uint8Array(bytes, { contentType })
      })
    )
  })
)
