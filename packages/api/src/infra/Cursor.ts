/**
 * Cursors of lists: the place after which the next page begins and a mark of its list, in base64url. They are opaque to callers,
 * and the server checks them. The mark finds mistakes; it is no secret.
 */
import * as Base64Url from "effect/encoding/Base64Url"
import * as Hash from "effect/Hash"
import * as Result from "effect/Result"

/** Characters of a place: an id, or the name of a group. */
const MAX_PLACE = 256

/** Returns the mark of a list with its filters: cursors of another list or of other filters have another mark. */
export const markOf = (list: string, query: Readonly<Record<string, unknown>>): string => {
  const filters = Object.entries(query).filter(([name]) => !NO_FILTERS.has(name))
  return (Hash.string(JSON.stringify([list, ...filters.sort(([a], [b]) => (a < b ? -1 : 1))])) >>> 0).toString(36)
}
const NO_FILTERS: ReadonlySet<string> = new Set(["limit", "cursor", "environment"])

export const cursorOf = (mark: string, place: string): string => Base64Url.encode(`${mark} ${place}`)

/** Returns the place of a cursor; undefined for a text that is no cursor. */
export const placeIn = (cursor: string): string | undefined => partsOf(cursor)?.[1]

/** True if a page of the list with this mark gave out the cursor. */
export const isMarked = (cursor: string, mark: string): boolean => partsOf(cursor)?.[0] === mark

const partsOf = (cursor: string): readonly [mark: string, place: string] | undefined => {
  const text = Result.getOrUndefined(Base64Url.decodeString(cursor))
  const [, mark, place] = /^([0-9a-z]{1,7}) ([^\0]+)$/.exec(text ?? "") ?? []
  if (mark === undefined || place === undefined || place.length > MAX_PLACE) return undefined
  return cursorOf(mark, place) === cursor ? [mark, place] : undefined
}
