/**
 * Shared parts of the infrastructure contracts: envelopes, and the query of lists (interface: Envelopes; decisions:
 * Infrastructure surface, Lists). Cursors are those of `Cursor.ts`.
 */
import type { Page, PageRequest } from "@sluice/domain/database/Page"
import { DEFAULT_PAGE, MAX_PAGE } from "@sluice/domain/database/Page"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import { cursorOf, placeIn } from "./Cursor.ts"
import { queryInteger } from "./WireFields.ts"

/** Returns an endpoint's annotations for the OpenAPI document. */
export const about = (identifier: string, summary: string, description?: string) =>
  OpenApi.annotations({ identifier, summary, ...(description === undefined ? {} : { description }) })

export const data = <S extends Schema.Top>(schema: S) => Schema.Struct({ data: schema })
export const createdSchema = <S extends Schema.Top>(schema: S) => data(schema).annotate({ httpApiStatus: 201 })

const Meta = Schema.Struct({
  cursor: Schema.String.annotate({ description: "`?cursor=` of the next page; empty on the last page." }),
  hasMore: Schema.Boolean,
  total: Schema.Int.annotate({ description: "All rows that match the filters, over all pages." }),
  requestId: Schema.String
}).annotate({ identifier: "ListMeta" })

export const list = <S extends Schema.Top>(schema: S) => Schema.Struct({ data: Schema.Array(schema), meta: Meta })

/** Every endpoint accepts the environment by id or name. Unknown query parameters are refused. */
export const environmentQuery = {
  environment: Schema.optionalKey(
    Schema.String.annotate({ description: "Environment, by id or name. Default: the key's own, else `default`." })
  )
}

/** The bound of a page's size. */
const limitMessage = `must be an integer from 1 to ${MAX_PAGE}`
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** True where the text has the form of a row's id. */
export const isId = (text: string): boolean => uuid.test(text)

/**
 * A cursor as `isCursor` accepts it. Only the server checks it: to a client a cursor is opaque, so that it can page through the
 * lists of a server of another version.
 */
const checkedCursor = (isCursor: (cursor: string) => boolean) =>
  Schema.String.annotate({ description: "`meta.cursor` of the previous page." }).pipe(
    Schema.middlewareDecoding(
      Effect.flatMap((cursor: Option.Option<string>) =>
        Option.isNone(cursor) || isCursor(cursor.value)
          ? Effect.succeed(cursor)
          : Effect.fail(new SchemaIssue.InvalidValue({ message: FOREIGN_CURSOR }))
      )
    )
  )
const FOREIGN_CURSOR = "must be the meta.cursor of a response; leave it out for the first page"

/** The query of a list whose cursors `isCursor` accepts. */
const paging = (defaultLimit: string, isCursor: (cursor: string) => boolean) => ({
  ...environmentQuery,
  limit: Schema.optionalKey(
    queryInteger(1, MAX_PAGE, { message: limitMessage, description: `1 to ${MAX_PAGE}, default ${defaultLimit}.` })
  ),
  cursor: Schema.optionalKey(checkedCursor(isCursor))
})

export const listQuery = paging(`${DEFAULT_PAGE}`, (cursor) => isId(placeIn(cursor) ?? ""))

/** The query of lists of groups. Their cursors contain the group's id. */
export const groupsQuery = paging(`${DEFAULT_PAGE}`, (cursor) => placeIn(cursor) !== undefined)

/** The query of short lists that change only with the server. Their cursors contain a position. */
export const shortListQuery = paging("all of them", (cursor) => positionIn(cursor) !== undefined)

const positionIn = (cursor: string): number | undefined => {
  const place = placeIn(cursor)
  return place !== undefined && /^[1-9]\d{0,5}$/.test(place) ? Number(place) : undefined
}

/** Returns the page that a validated query requests. */
export const pageRequest = (query: { readonly limit?: number; readonly cursor?: string }): PageRequest => ({
  limit: query.limit ?? DEFAULT_PAGE,
  after: query.cursor === undefined ? undefined : placeIn(query.cursor)
})

/** Returns the envelope of a page. `mark`: the list that its cursor is bound to. */
export const listOf = <A, B>(page: Page<A>, toWire: (item: A) => B, requestId: string, mark: string) => ({
  data: page.items.map(toWire),
  meta: {
    cursor: page.next === undefined ? "" : cursorOf(mark, page.next),
    hasMore: page.next !== undefined,
    total: page.total,
    requestId
  }
})

/** Returns a page of a short list, or the complete list where no limit is given. */
export const shortListOf = <A, B>(
  items: ReadonlyArray<A>,
  query: { readonly limit?: number; readonly cursor?: string },
  toWire: (item: A) => B,
  requestId: string,
  mark: string
) => {
  const from = query.cursor === undefined ? 0 : (positionIn(query.cursor) ?? 0)
  const to = from + (query.limit ?? items.length)
  const next = to < items.length ? `${to}` : undefined
  return listOf({ items: items.slice(from, to), total: items.length, next }, toWire, requestId, mark)
}
