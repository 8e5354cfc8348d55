/**
 * What the contracts of the infrastructure surface share: envelopes, and the query that every list takes (interface:
 * Envelopes; decisions: Infrastructure surface, Lists). A cursor is the last id of a page, in base64url: opaque to callers,
 * checked on return.
 */
import type { Page, PageRequest } from "@sluice/domain/database/Page"
import { DEFAULT_PAGE, MAX_PAGE } from "@sluice/domain/database/Page"
import * as Base64Url from "effect/encoding/Base64Url"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** What the document says of an endpoint. */
export const about = (identifier: string, summary: string, description?: string) =>
  OpenApi.annotations({ identifier, summary, ...(description === undefined ? {} : { description }) })

export const data = <S extends Schema.Top>(schema: S) => Schema.Struct({ data: schema })
export const created = <S extends Schema.Top>(schema: S) => data(schema).annotate({ httpApiStatus: 201 })

const Meta = Schema.Struct({
  cursor: Schema.String.annotate({ description: "`?cursor=` of the next page; empty on the last one." }),
  hasMore: Schema.Boolean,
  total: Schema.Int.annotate({ description: "All rows that match the filters, over all pages." }),
  requestId: Schema.String
}).annotate({ identifier: "ListMeta" })

export const list = <S extends Schema.Top>(schema: S) => Schema.Struct({ data: Schema.Array(schema), meta: Meta })

/** Every endpoint takes the environment, by id or name; unknown query parameters are refused. */
export const environmentQuery = {
  environment: Schema.optionalKey(
    Schema.String.annotate({ description: "Environment, by id or name. Default: the key's own, else `default`." })
  )
}

/** How many a page has, where a list is paged. */
const limitRule = { message: `must be an integer from 1 to ${MAX_PAGE}` }
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Whether a text can be the id of a row. */
export const isId = (text: string): boolean => uuid.test(text)

/** The query of a list whose cursors `isCursor` knows. */
const paging = (usual: string, isCursor: (cursor: string) => boolean) => ({
  ...environmentQuery,
  limit: Schema.optionalKey(
    Schema.Int.annotate({ ...limitRule, description: `1 to ${MAX_PAGE}, default ${usual}.` }).check(
      Schema.isBetween({ minimum: 1, maximum: MAX_PAGE }, limitRule)
    )
  ),
  cursor: Schema.optionalKey(
    Schema.String.annotate({ description: "`meta.cursor` of the page before." }).check(
      Schema.makeFilter((cursor: string) =>
        isCursor(cursor) ? undefined : "must be the meta.cursor of an answer; leave it out for the first page"
      )
    )
  )
})

/** A text that was made a cursor: the id of a row or of a group. */
const textOf = (cursor: string): string | undefined => {
  const text = Result.getOrUndefined(Base64Url.decodeString(cursor))
  return text !== undefined &&
    text !== "" &&
    text.length <= MAX_CURSOR &&
    !text.includes("\0") &&
    Base64Url.encode(text) === cursor
    ? text
    : undefined
}
const MAX_CURSOR = 256

export const listQuery = paging(`${DEFAULT_PAGE}`, (cursor) => isId(textOf(cursor) ?? ""))

/** Of groups, whose cursors are what they have in common. */
export const groupsQuery = paging(`${DEFAULT_PAGE}`, (cursor) => textOf(cursor) !== undefined)

/** Of short lists that change with the server alone: their cursors are places in them. */
export const shortListQuery = paging("all of them", (cursor) => placeOf(cursor) !== undefined)

const placeOf = (cursor: string): number | undefined => {
  const place = Result.getOrUndefined(Base64Url.decodeString(cursor))
  return place !== undefined && /^[1-9]\d{0,5}$/.test(place) ? Number(place) : undefined
}

/** The page that a checked query asks for. */
export const pageRequest = (query: { readonly limit?: number; readonly cursor?: string }): PageRequest => ({
  limit: query.limit ?? DEFAULT_PAGE,
  after: query.cursor === undefined ? undefined : textOf(query.cursor)
})

/** A page on the wire. */
export const listOf = <A, B>(page: Page<A>, toWire: (item: A) => B, requestId: string) => ({
  data: page.items.map(toWire),
  meta: {
    cursor: page.next === undefined ? "" : Base64Url.encode(page.next),
    hasMore: page.next !== undefined,
    total: page.total,
    requestId
  }
})

/** A page of a short list: whole, where no limit is given. */
export const shortListOf = <A, B>(
  items: ReadonlyArray<A>,
  query: { readonly limit?: number; readonly cursor?: string },
  toWire: (item: A) => B,
  requestId: string
) => {
  const from = query.cursor === undefined ? 0 : (placeOf(query.cursor) ?? 0)
  const to = from + (query.limit ?? items.length)
  const next = to < items.length ? `${to}` : undefined
  return listOf({ items: items.slice(from, to), total: items.length, next }, toWire, requestId)
}
