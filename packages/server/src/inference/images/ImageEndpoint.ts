/** POST /images/generations over the domain's `Images`. */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { imageListText } from "@sluice/api/inference/images/ImageWire"
import { decodeImage } from "@sluice/domain/inference/images/ImageRequest"
import { Images } from "@sluice/domain/inference/images/Images"
import { Effect } from "effect"
import { IMAGE_LINK_PATH } from "./ImageLinkRoute.ts"
import { originOf } from "../../http/Hosts.ts"
import { type Caller, json } from "../CallerGate.ts"
import { type Routed, RoutedRequests } from "../RoutedRequests.ts"

export const makeImages = Effect.gen(function* () {
  const images = yield* Images
  const { withJson } = yield* RoutedRequests

  /** `origin`: the server's origin as the caller reached it, for links. */
  const answerOf = Effect.fnUntraced(function* (caller: Caller, body: unknown, origin: string) {
    const request = yield* Effect.fromResult(decodeImage(body))
    const answer = yield* images.generate(caller.principal, caller.requestId, request)
    const data = answer.images.map((image) =>
      typeof image === "string"
        ? { url: `${origin}${IMAGE_LINK_PATH}/${image}` }
        : { b64_json: Buffer.from(image).toString("base64") }
    )
    return json(200, imageListText(data, answer), caller.headers)
  })

  return ({ request }: Routed) =>
    withJson(request, (caller, body) =>
      answerOf(caller, body, originOf(NodeHttpServerRequest.toIncomingMessage(request)))
    )
})
