/**
 * Pages of a list, newest first. Ids are UUID v7, so the cursor "after this id" is stable while rows are added: no row
 * is repeated or skipped (decisions: Infrastructure surface, common rules).
 */
export const MAX_PAGE = 100
export const DEFAULT_PAGE = 20

export interface PageRequest {
  /** 1 to `MAX_PAGE`. */
  readonly limit: number
  /** The last id of the previous page; undefined for the first page. */
  readonly after: string | undefined
}

export interface Page<A> {
  readonly items: ReadonlyArray<A>
  /** The number of rows that match, over all pages. */
  readonly total: number
  /** The `after` of the next page; undefined on the last page. */
  readonly next: string | undefined
}

/** Returns a page of up to `limit + 1` rows: the extra row only shows that there is a next page. */
export const pageOf = <A extends { readonly id: string }>(
  rows: ReadonlyArray<A>,
  request: PageRequest,
  total: number
): Page<A> => {
  const items = rows.slice(0, request.limit)
  return { items, total, next: rows.length > request.limit ? items[items.length - 1]?.id : undefined }
}
