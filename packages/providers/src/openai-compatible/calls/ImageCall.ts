/** Images from one upstream, in a format that we know. One that it gives as a link is not fetched: nobody's links are. */
import { imageFormatOf } from "@sluice/domain/models/ImageFormat"
import type { ImageFiles } from "@sluice/domain/models/ModelProvider"
import { Effect } from "effect"
import { bodyText } from "../upstream/BodyText.ts"
import { callFailed } from "../upstream/CallFailed.ts"
import { field, list, text } from "../upstream/Loose.ts"
import { json } from "../upstream/Reply.ts"
import type { Call } from "../upstream/Upstreams.ts"

/** Of a pixel of a file that does not compress, in base64. */
const BYTES_PER_PIXEL = 6
const MORE_BYTES = 1024 * 1024
const MAX_BYTES = 512 * 1024 * 1024
/** Some servers give what stands behind `src=`. Its type is not believed. */
const PREFIX = /^data:[^,]{0,100};base64,/i

export interface ImageTask {
  readonly prompt: string
  readonly count: number
  readonly size: string
}

export const imageCall =
  ({ count, prompt, size }: ImageTask): Call<ImageFiles, never> =>
  (lease) =>
    Effect.suspend(() => {
      const { omit, model } = lease.upstream
      const [width = 0, height = 0] = size.split("x").map(Number)
      const exchange = lease.send({
        method: "POST",
        path: "/images/generations",
        accept: "application/json",
        body: bodyText({ model, prompt, n: count, size, response_format: "b64_json" }, omit),
        mostBytes: Math.min(MAX_BYTES, count * (width * height * BYTES_PER_PIXEL + MORE_BYTES))
      })
      return Effect.flatMap(json(exchange, lease), (value) => {
        const files = list(field(value, "data")).map(fileOf)
        const [format, ...others] = new Set(files.map(imageFormatOf))
        if (format === undefined || others.length > 0) return Effect.fail(callFailed("malformed"))
        return files.length < count
          ? Effect.fail(callFailed("unserved"))
          : Effect.succeed({ format, files: files.slice(0, count) })
      })
    })

const fileOf = (one: unknown) => Buffer.from((text(field(one, "b64_json")) ?? "").replace(PREFIX, ""), "base64")
