/** The URL by which a caller shows a model an image: the image itself, as base64, or a link that is yet to be followed. */
import { Result } from "effect"
import * as Base64 from "effect/encoding/Base64"
import { dataUrlHead, isPlain, plainBase64 } from "../../models/DataUrl.ts"
import { shownTypeOf } from "../../models/ImageFormat.ts"

/** Whether an image is yet to be fetched. */
export const isLink = (url: string): boolean => /^https?:/i.test(url)

/** Where links are not allowed, they are refused in the same words as what is no image's URL at all. */
export const noData = (param: string): string =>
  `Invalid value for '${param}': only data: URLs of images are accepted (data:image/png;base64,...); http(s) links where the operator allows them (--allow-image-urls)`

/**
 * The URL as any model takes it, of an image that is no link; fails with what is wrong. The type that the URL gives is not
 * looked at: clients say png of all. An image may have many megabytes, so of a URL that is plain already only the ends are.
 */
export const plainImageUrl = (url: string, param: string): Result.Result<string, string> => {
  const start = dataUrlHead(url)?.length
  if (start === undefined) return Result.fail(noData(param))
  const wrong = (why: string) => Result.fail(`Invalid value for '${param}': the image ${why}`)
  const isAsItIs = isPlain(url, start) && PLAIN_HEAD.test(url.slice(0, start))
  const data = isAsItIs ? url.slice(start) : plainBase64(url.slice(start))
  if (data === "") return wrong("is empty")
  const head = data === undefined ? undefined : Base64.decode(data.slice(0, HEAD))
  if (data === undefined || head === undefined || !isBase64(data) || Result.isFailure(head)) {
    return wrong("must be in base64")
  }
  const type = shownTypeOf(head.success)
  if (type === undefined) return wrong("must be PNG, JPEG, WebP or GIF by its bytes")
  return Result.succeed(isAsItIs ? url : `data:${type};base64,${data}`)
}

const PLAIN_HEAD = /^data:image\/[a-z0-9.+-]+;base64,$/i
/** Characters. */
const END = 64
/** What tells each format apart is in these. */
const HEAD = 16
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

const isBase64 = (data: string): boolean => BASE64.test(data.slice(0, END)) && BASE64.test(data.slice(-END))
