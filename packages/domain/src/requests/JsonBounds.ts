/**
 * One look over a JSON text before it is parsed: whether it nests deeper or has more values than it may. It is long strings
 * that take no time to parse and to check; many small values do. Whether it is JSON at all, the parser says.
 */
export interface JsonBounds {
  readonly depth: number
  /** The outermost one included. */
  readonly values: number
  /** Numbers in arrays that are beside the values, so many at most: they cost least. Left out: they are values as any other. */
  readonly numbers?: number
}

const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const ZERO = 0x30
const NINE = 0x39
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/** The field of the outermost object in which the text goes beyond its bounds, "" between fields; undefined: nowhere. */
export const fieldBeyond = (text: string, { depth: maxDepth, numbers, values }: JsonBounds): string | undefined => {
  let depth = 0
  let count = 1
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
    // One value more after each comma, and within each bracket that is not closed at once.
    if (code === OPEN_BRACKET || code === OPEN_BRACE) {
      depth++
      if (!isClosing(codeAfter(text, at))) count++
    } else if (isClosing(code)) depth--
    else if (code === COMMA) {
      // The name of a field is a string.
      if (numbersLeft > 0 && isDigit(codeAfter(text, at))) numbersLeft--
      else count++
    }
    if (depth > maxDepth || count > values) return depth > 1 && name !== -1 ? nameAt(text, name) : ""
  }
  return undefined
}

const isClosing = (code: number): boolean => code === CLOSE_BRACKET || code === CLOSE_BRACE
const isDigit = (code: number): boolean => code >= ZERO && code <= NINE

/** What comes next that is no space. */
const codeAfter = (text: string, at: number): number => {
  let next = at + 1
  while (text.charCodeAt(next) <= SPACE) next++
  return text.charCodeAt(next)
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
