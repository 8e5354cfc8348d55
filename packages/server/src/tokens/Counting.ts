/**
 * Counts in steps: each sees as much text as a tokenizer sees at once (30 ms of the most hostile, less than one of ordinary
 * text), in one slice or in many short ones. What comes out is what a count at once gives.
 */
import { SLICE_LENGTH, slicesOf, type SliceTokens } from "@sluice/domain/models/Tokens"

/** Of each text, up to where it passes `limit`; no further than all together pass `limitOfAll`. */
export function* counting(
  texts: ReadonlyArray<string>,
  limit: number,
  limitOfAll: number,
  countSlice: SliceTokens["count"]
): Generator<undefined, ReadonlyArray<number>> {
  const counts: Array<number> = []
  let all = 0
  let seen = 0
  for (const text of texts) {
    let tokens = 0
    for (const slice of slicesOf(text)) {
      if (seen > 0 && seen + slice.length > SLICE_LENGTH) {
        yield
        seen = 0
      }
      seen += slice.length
      tokens += countSlice(slice)
      if (tokens > limit || all + tokens > limitOfAll) break
    }
    counts.push(tokens)
    all += tokens
    if (all > limitOfAll) break
  }
  return counts
}

/** The longest beginning with at most `limit` tokens. */
export function* fitting(text: string, limit: number, slices: SliceTokens): Generator<undefined, string> {
  let start = 0
  let left = limit
  for (const slice of slicesOf(text)) {
    const tokens = slices.count(slice)
    if (tokens > left) return text.slice(0, start) + slices.fit(slice, left)
    left -= tokens
    start += slice.length
    yield
  }
  return text
}
