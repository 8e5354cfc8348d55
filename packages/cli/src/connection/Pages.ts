/** Reads a paged list: requests page after page until it has as many items as the caller wants. */
import * as Effect from "effect/Effect"

const MAX_PAGE = 100

interface Page<A> {
  readonly data: ReadonlyArray<A>
  readonly meta: { readonly cursor: string; readonly hasMore: boolean; readonly total: number }
}

/** Returns the first `wanted` items of a list, and the total number of items in the list. */
export const firstOf = Effect.fnUntraced(function* <A, E, R>(
  wanted: number,
  ask: (query: { readonly limit: number; readonly cursor?: string }) => Effect.Effect<Page<A>, E, R>
) {
  const items: Array<A> = []
  for (let query: { readonly cursor?: string } = {}; ;) {
    const { data, meta } = yield* ask({ ...query, limit: Math.min(MAX_PAGE, wanted - items.length) })
    items.push(...data)
    if (!meta.hasMore || items.length >= wanted) return { items, total: meta.total }
    query = { cursor: meta.cursor }
  }
})
