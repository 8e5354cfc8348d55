/**
 * Checks the depth and the number of values of a JSON text in one pass before it is parsed. Many small values take long
 * to parse and to validate, long strings do not. This module does not check the syntax: the parser does.
 */
export interface JsonBounds {
  readonly depth: number
  /** Maximum number of values, with the outermost one. */
  readonly values: number
  /**
   * Numbers in arrays that are not counted as values, up to this many, because they are cheap. If it is omitted,
   * numbers count as values.
   */
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

/**
 * Returns the field of the outermost object in which the text exceeds its bounds: "" between fields or if the text is
 * no object, undefined if it stays within them.
 */
export const findFieldBeyondBounds = (
  text: string,
  { depth: maxDepth, numbers, values }: JsonBounds
): string | undefined => {
  let depth = 0
  let count = 1
  let numbersLeft = numbers ?? 0
  /** Start of the last string at depth 1: inside a field this string is the field's name. */
  let name = -1
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === QUOTE) {
      if (depth === 1) name = index
      index = endOfString(text, index)
      if (index === -1) return undefined
      continue
    }
    // Each comma adds a value, and so does each bracket that is not closed at once.
    if (code === OPEN_BRACKET || code === OPEN_BRACE) {
      depth++
      if (!isClosing(codeAfter(text, index))) count++
    } else if (isClosing(code)) depth--
    else if (code === COMMA) {
      // A number after a comma is in an array, because in an object a field's name follows.
      if (numbersLeft > 0 && isDigit(codeAfter(text, index))) numbersLeft--
      else count++
    }
    if (depth > maxDepth || count > values) return depth > 1 && name !== -1 ? nameAt(text, name) : ""
  }
  return undefined
}

const isClosing = (code: number): boolean => code === CLOSE_BRACKET || code === CLOSE_BRACE
const isDigit = (code: number): boolean => code >= ZERO && code <= NINE

/** The next character code after `at` that is not white space. */
const codeAfter = (text: string, index: number): number => {
  let next = index + 1
  while (text.charCodeAt(next) <= SPACE) next++
  return text.charCodeAt(next)
}

const nameAt = (text: string, start: number): string =>
  /^\s*\{/.test(text) ? text.slice(start + 1, endOfString(text, start)) : ""

/** The index of the closing quote of the string that begins at `start`; -1 if the string is not closed. */
const endOfString = (text: string, start: number): number => {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let escapes = 0
    while (text.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes++
    if (escapes % 2 === 0) return at
  }
  return -1
}
