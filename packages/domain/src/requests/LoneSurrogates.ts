/**
 * Halves of surrogate pairs in a JSON body. JSON can spell them (`"\\ud800"`), UTF-8 can't: no database keeps such a text, and
 * an answer that repeats it is no JSON to many a reader. So a body that has one anywhere is refused as a whole.
 */

export const LONE_SURROGATE = "must be well-formed Unicode (it has a lone surrogate)"

/** A body of UTF-8 has a surrogate only where it is spelled out. */
const SPELLED = /\\u[dD][89a-fA-F]/
/** Deeper bodies are refused for their depth. */
const MAX_DEPTH = 64
/** Characters of each name that are shown. */
const MAX_SHOWN = 64

/**
 * The paths of texts, and of fields by their names, that have a lone surrogate: `most` at most. `text` is what `value` was
 * parsed from. Paths themselves are well-formed.
 */
export const loneSurrogates = (text: string, value: unknown, most: number): ReadonlyArray<ReadonlyArray<string>> => {
  const found: Array<ReadonlyArray<string>> = []
  if (text.includes("\\u") && SPELLED.test(text)) collect(value, [], most, found)
  return found
}

const collect = (
  value: unknown,
  path: ReadonlyArray<string>,
  most: number,
  found: Array<ReadonlyArray<string>>
): void => {
  if (found.length >= most || path.length > MAX_DEPTH) return
  if (typeof value === "string") {
    if (!value.isWellFormed()) found.push(path)
    return
  }
  if (typeof value !== "object" || value === null) return
  for (const [name, inner] of Object.entries(value)) {
    const at = [...path, cutText(name, MAX_SHOWN)]
    if (!name.isWellFormed() && found.length < most) found.push(at)
    else collect(inner, at, most, found)
  }
}

/** The beginning of a text, to be shown: cut between characters, and well-formed. */
export const cutText = (text: string, most: number): string => text.slice(0, most).toWellFormed()
