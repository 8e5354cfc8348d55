/** Checks the URL of an image in a chat: the image itself as base64, or a link that must still be fetched. */
import { Result } from "effect"
import * as Base64 from "effect/encoding/Base64"
import { dataUrlHead, isPlain, plainBase64 } from "../../models/DataUrl.ts"
import { shownTypeOf } from "../../models/ImageFormat.ts"

/** Returns whether the image must still be fetched. */
export const isLink = (url: string): boolean => /^https?:/i.test(url)

/** The message for a URL that is neither. A link that is not allowed gets the same message. */
export const notImageUrl = (param: string): string =>
  `Invalid value for '${param}': only data: URLs of images are accepted (data:image/png;base64,...); http(s) links where the operator allows them (--allow-image-urls)`

/**
 * Returns the URL of an image that is no link in the plain form that every model accepts, or the mistake in it. The media type is
 * not compared with the bytes: clients use png for every image. Of a URL that is plain already only both ends are checked,
 * because an image may have many megabytes.
 */
export const plainImageUrl = (url: string, param: string): Result.Result<string, string> => {
  const start = dataUrlHead(url)?.length
  if (start === undefined) return Result.fail(notImageUrl(param))
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
/** Base64 characters that contain the first bytes of every format. */
const HEAD = 16
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

const isBase64 = (data: string): boolean => BASE64.test(data.slice(0, END)) && BASE64.test(data.slice(-END))
