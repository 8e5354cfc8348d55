/** Checks the URL of an image in a chat: the image itself as base64, or a link that must still be fetched. */
import { Result } from "effect"
import * as Base64 from "effect/encoding/Base64"
import { isChatImage } from "../../models/ImageFormat.ts"

/** Returns whether the image must still be fetched. */
export const isLink = (url: string): boolean => /^https?:/i.test(url)

/** The message for a URL that is neither. A link that is not allowed gets the same message. */
export const notImageUrl = (param: string): string =>
  `Invalid value for '${param}': only data: URLs of images are accepted (data:image/png;base64,...); http(s) links where the operator allows them (--allow-image-urls)`

/**
 * Returns the mistake in the URL of an image that is no link; undefined if there is none. Only both ends are checked,
 * because an image may have many megabytes. The media type is not compared with the bytes: clients use png for every
 * image.
 */
export const findImageMistake = (url: string, param: string): string | undefined => {
  const scheme = /^data:image\/[a-z0-9.+-]+;base64,/i.exec(url.slice(0, 64))?.[0]
  if (scheme === undefined) return notImageUrl(param)
  const start = url.slice(scheme.length, scheme.length + END_LENGTH)
  const why =
    start === "" ? "is empty" : findBase64Mistake(start, url.slice(Math.max(scheme.length, url.length - END_LENGTH)))
  return why === undefined ? undefined : `Invalid value for '${param}': the image ${why}`
}

/** Characters checked at each end. */
const END_LENGTH = 64
/** Base64 characters that contain the format's first bytes. */
const HEAD_LENGTH = 16
/** Line breaks are allowed, because some encoders insert them. */
const BASE64 = /^[A-Za-z0-9+/\r\n]*={0,2}[\r\n]*$/

const findBase64Mistake = (start: string, end: string): string | undefined => {
  const head = Base64.decode(start.replaceAll(/[\r\n]/g, "").slice(0, HEAD_LENGTH))
  if (!BASE64.test(start) || !BASE64.test(end) || Result.isFailure(head)) return "must be in base64"
  return isChatImage(head.success) ? undefined : "must be PNG, JPEG, WebP or GIF by its bytes"
}
