/**
 * Counts tokens in steps, so that the caller can switch to other work between them. A step covers as much text as one
 * tokenizer slice, in one slice or in several short ones: 30 ms of the most hostile text, less than 1 ms of ordinary
 * text. The result equals that of one count.
 */
import { SLICE_LENGTH, slicesOf, type SliceTokens } from "@sluice/domain/models/Tokens"

/**
 * Returns the tokens of each text. A text's count stops beyond `limit`, and all counting stops once the sum is beyond
 * `limitOfAll`.
 */
export function* countInSteps(
  texts: ReadonlyArray<string>,
  limit: number,
  limitOfAll: number,
  countSlice: SliceTokens["count"]
): Generator<undefined, ReadonlyArray<number>> {
  const counts: Array<number> = []
  let total = 0
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
      if (tokens > limit || total + tokens > limitOfAll) break
    }
    counts.push(tokens)
    total += tokens
    if (total > limitOfAll) break
  }
  return counts
}

/** Returns the longest prefix with at most `limit` tokens. */
export function* fitInSteps(text: string, limit: number, slices: SliceTokens): Generator<undefined, string> {
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
