/** Pictures from one upstream, as PNG files. One that it gives as a link is not fetched: nobody's links are. */
import type { ImageModel } from "@sluice/domain/inference/ModelProvider"
import { Effect } from "effect"
import { bodyText } from "./BodyText.ts"
import { callFailed } from "./CallFailed.ts"
import { field, list, text } from "./Loose.ts"
import { json } from "./Reply.ts"
import type { Call } from "./Upstreams.ts"

/** Of a pixel of a file that does not compress, in base64. */
const BYTES_PER_PIXEL = 6
const MORE_BYTES = 1024 * 1024
const MOST_BYTES = 512 * 1024 * 1024
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

export interface ImageTask {
  readonly prompt: string
  readonly count: number
  readonly size: string
}

export const imageCall =
  (_model: ImageModel, { count, prompt, size }: ImageTask): Call<ReadonlyArray<Uint8Array>, never> =>
  (lease) =>
    Effect.suspend(() => {
      const { omit, model } = lease.upstream
      const [width = 0, height = 0] = size.split("x").map(Number)
      const exchange = lease.send({
        method: "POST",
        path: "/images/generations",
        accept: "application/json",
        body: bodyText({ model, prompt, n: count, size, response_format: "b64_json" }, omit),
        mostBytes: Math.min(MOST_BYTES, count * (width * height * BYTES_PER_PIXEL + MORE_BYTES))
      })
      return Effect.flatMap(json(exchange, lease), (value) => {
        const files = list(field(value, "data")).map((one) => Buffer.from(text(field(one, "b64_json")) ?? "", "base64"))
        const sound = files.length > 0 && files.every((file) => file.subarray(0, PNG.length).equals(PNG))
        if (!sound) return Effect.fail(callFailed("malformed"))
        return files.length < count ? Effect.fail(callFailed("unserved")) : Effect.succeed(files.slice(0, count))
      })
    })
