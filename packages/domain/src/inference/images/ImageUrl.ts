/** The URL by which a caller shows a model an image: the image itself, as base64, or a link that is yet to be followed. */
import { Result } from "effect"
import * as Base64 from "effect/encoding/Base64"
import { isShown } from "../../models/ImageFormat.ts"

/** Whether an image is yet to be fetched. */
export const isLink = (url: string): boolean => /^https?:/i.test(url)

/** Where links are not allowed, they are refused in the same words as what is no image's URL at all. */
export const noData = (param: string): string =>
  `Invalid value for '${param}': only data: URLs of images are accepted (data:image/png;base64,...); http(s) links where the operator allows them (--allow-image-urls)`

/**
 * What is wrong with the URL of an image that is no link; undefined: nothing. An image may have many megabytes, so only its
 * ends are looked at. What the URL calls it is not: clients say png of all.
 */
export const imageFault = (url: string, param: string): string | undefined => {
  const scheme = /^data:image\/[a-z0-9.+-]+;base64,/i.exec(url.slice(0, 64))?.[0]
  if (scheme === undefined) return noData(param)
  const start = url.slice(scheme.length, scheme.length + END)
  const why = start === "" ? "is empty" : whyNot(start, url.slice(Math.max(scheme.length, url.length - END)))
  return why === undefined ? undefined : `Invalid value for '${param}': the image ${why}`
}

/** Characters. */
const END = 64
/** What tells each format apart is in these. */
const HEAD = 16
/** Some encoders break lines. */
const BASE64 = /^[A-Za-z0-9+/\r\n]*={0,2}[\r\n]*$/

const whyNot = (start: string, end: string): string | undefined => {
  const head = Base64.decode(start.replaceAll(/[\r\n]/g, "").slice(0, HEAD))
  if (!BASE64.test(start) || !BASE64.test(end) || Result.isFailure(head)) return "must be in base64"
  return isShown(head.success) ? undefined : "must be PNG, JPEG, WebP or GIF by its bytes"
}
