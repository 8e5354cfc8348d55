/**
 * Pages of a list, newest first. Ids are UUID v7, so "after this id" is stable while rows are added: no row comes twice,
 * none is skipped (decisions: Infrastructure surface, common rules).
 */
export const MAX_PAGE = 100
export const DEFAULT_PAGE = 20

export interface PageRequest {
  /** 1..MAX_PAGE. */
  readonly limit: number
  /** The last id of the page before; undefined for the first page. */
  readonly after: string | undefined
}

export interface Page<A> {
  readonly items: ReadonlyArray<A>
  /** All rows that match, over all pages. */
  readonly total: number
  /** The `after` of the next page; undefined on the last one. */
  readonly next: string | undefined
}

/** A page out of up to `limit + 1` rows: the extra row only says that there is more. */
export const pageOf = <A extends { readonly id: string }>(
  rows: ReadonlyArray<A>,
  request: PageRequest,
  total: number
): Page<A> => {
  const items = rows.slice(0, request.limit)
  return { items, total, next: rows.length > request.limit ? items[items.length - 1]?.id : undefined }
}
