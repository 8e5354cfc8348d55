/**
 * Reads `data:` URLs in base64 as browsers do (RFC 2397 and the forgiving decoding of base64 of the Infra standard): parameters,
 * a media type that is missing, percent-encoded characters, blanks, line breaks and missing padding are fine.
 */

/** Maximum characters of a head: a media type with a parameter or two is shorter. */
const MAX_HEAD = 256
const HEAD = /^\s*data:\s*([^,;\s]*)[^,]*?;\s*base64\s*,/i

export interface DataUrlHead {
  /** In lower case, without parameters; empty: the URL has none. */
  readonly mediaType: string
  /** Characters before the data. */
  readonly length: number
}

/** Returns the head; undefined if the text is no `data:` URL in base64. */
export const dataUrlHead = (url: string): DataUrlHead | undefined => {
  const found = HEAD.exec(url.slice(0, MAX_HEAD))
  return found === null ? undefined : { mediaType: found[1]!.toLowerCase(), length: found[0].length }
}

/** Returns the base64 in the form that every decoder accepts; undefined if the text is no base64. */
export const plainBase64 = (data: string): string | undefined => {
  try {
    return btoa(atob(data.includes("%") ? decodeURIComponent(data) : data))
  } catch {
    return undefined
  }
}

const LOOSE = ["%", " ", "\n", "\r", "\t", "\f"]

/** True if every decoder accepts the URL. Each check searches for one character, so many megabytes take few milliseconds. */
export const isPlain = (url: string, start: number): boolean =>
  (url.length - start) % 4 === 0 && !LOOSE.some((character) => url.includes(character))
