/**
 * One look over a JSON text before it is parsed: whether it nests deeper or has more values than it may. It is long strings
 * that take no time to parse and to check; many small values do. Whether it is JSON at all, the parser says.
 */
export interface JsonBounds {
  readonly depth: number
  /** A text that has more may pass, up to three times as many; one that has not is never refused. */
  readonly values: number
  /** Numbers in arrays that are beside the values, so many at most: they cost least. Left out: they are values as any other. */
  readonly numbers?: number
}

const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const ZERO = 0x30
const NINE = 0x39
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/** The field of the outermost object in which the text goes beyond its bounds, "" between fields; undefined: nowhere. */
export const fieldBeyond = (text: string, { depth: maxDepth, numbers, values }: JsonBounds): string | undefined => {
  // A value has a bracket, a colon and a comma at most.
  const maxMarks = 3 * values
  let depth = 0
  let marks = 0
  let numbersLeft = numbers ?? 0
  /** Where the last string of the outermost level begins: within a field, that is its name. */
  let name = -1
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      if (depth === 1) name = at
      at = endOfString(text, at)
      if (at === -1) return undefined
      continue
    }
    const opens = code === OPEN_BRACKET || code === OPEN_BRACE
    if (opens) depth++
    else if (code === CLOSE_BRACKET || code === CLOSE_BRACE) depth--
    if (code === COMMA && numbersLeft > 0 && isNumberNext(text, at + 1)) numbersLeft--
    else if (opens || code === COMMA || code === COLON) marks++
    if (depth > maxDepth || marks > maxMarks) return depth > 1 && name !== -1 ? nameAt(text, name) : ""
  }
  return undefined
}

/** After a comma: the name of a field is a string. */
const isNumberNext = (text: string, from: number): boolean => {
  let at = from
  while (text.charCodeAt(at) <= SPACE) at++
  const code = text.charCodeAt(at)
  return code >= ZERO && code <= NINE
}

const nameAt = (text: string, start: number): string =>
  /^\s*\{/.test(text) ? text.slice(start + 1, endOfString(text, start)) : ""

/** The closing quote of the string that begins at `start`; -1: it has none. */
const endOfString = (text: string, start: number): number => {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let escapes = 0
    while (text.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes++
    if (escapes % 2 === 0) return at
  }
  return -1
}
