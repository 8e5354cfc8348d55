/**
 * Cursors of lists: the place after which the next page begins, with a mark of the list that it is a place in, in base64url.
 * They are opaque to callers and checked on return. The mark finds mistakes, it keeps no secret.
 */
import * as Base64Url from "effect/encoding/Base64Url"
import * as Hash from "effect/Hash"
import * as Result from "effect/Result"

/** Characters of a place: an id, or the name of a group. */
const MAX_PLACE = 256

/** What a page is a part of: the list, and everything of its query that says which rows are in it. */
export const markOf = (list: string, query: Readonly<Record<string, unknown>>): string => {
  const filters = Object.entries(query).filter(([name]) => !NO_FILTERS.has(name))
  return (Hash.string(JSON.stringify([list, ...filters.sort(([a], [b]) => (a < b ? -1 : 1))])) >>> 0).toString(36)
}
const NO_FILTERS: ReadonlySet<string> = new Set(["limit", "cursor", "environment"])

export const cursorOf = (mark: string, place: string): string => Base64Url.encode(`${mark} ${place}`)

/** The place that a cursor names; undefined for a text that is no cursor. */
export const placeIn = (cursor: string): string | undefined => partsOf(cursor)?.[1]

/** Whether a cursor was given out with a page of the same list. */
export const isMarked = (cursor: string, mark: string): boolean => partsOf(cursor)?.[0] === mark

const partsOf = (cursor: string): readonly [mark: string, place: string] | undefined => {
  const text = Result.getOrUndefined(Base64Url.decodeString(cursor))
  const [, mark, place] = /^([0-9a-z]{1,7}) ([^\0]+)$/.exec(text ?? "") ?? []
  if (mark === undefined || place === undefined || place.length > MAX_PLACE) return undefined
  return cursorOf(mark, place) === cursor ? [mark, place] : undefined
}
