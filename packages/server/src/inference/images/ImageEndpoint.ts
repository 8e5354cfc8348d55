/** POST /images/generations over the domain's `Images`. */
import { imageListText } from "@sluice/api/inference/images/ImageWire"
import type { InferenceFailure } from "@sluice/api/inference/InferenceErrors"
import { decodeImage } from "@sluice/domain/inference/images/ImageRequest"
import { Images } from "@sluice/domain/inference/images/Images"
import { Effect } from "effect"
import { IMAGE_LINK_PATH } from "./ImageLinkRoute.ts"
import { type Caller, json, type Reply } from "../CallerGate.ts"

export const makeImages = Effect.map(
  Images,
  (images) =>
    /** `origin`: the server's origin as the caller reached it, for links. */
    (caller: Caller, body: unknown, origin: string): Effect.Effect<Reply, InferenceFailure> =>
      Effect.gen(function* () {
        const request = yield* Effect.fromResult(decodeImage(body))
        const answer = yield* images.generate(caller.principal, caller.requestId, request)
        const data = answer.images.map((image) =>
          typeof image === "string"
            ? { url: `${origin}${IMAGE_LINK_PATH}/${image}` }
            : { b64_json: Buffer.from(image).toString("base64") }
        )
        return json(200, imageListText(data, answer), caller.headers)
      })
)
