/**
 * A body's JSON text: parsed, or refused before that where parsing would hold everybody up. It is long strings, as of images,
 * that bodies are large for; they take no time. Millions of small values do.
 */
import { Result } from "effect"
import { ChatInvalid } from "./InferenceErrors.ts"

/** How deep a body may nest and how many values it may have: parsing, checking and rendering it must stay short. */
export const MAX_DEPTH = 64
export const MAX_VALUES = 100_000
export const TOO_LARGE = `The body nests deeper than ${MAX_DEPTH} levels or has more than ${MAX_VALUES} values`

/** Texts below are parsed in no time, whatever they are. */
const SMALL_TEXT = 131_072
/** A value has a bracket, a colon and a comma at most. */
const MAX_MARKS = 3 * MAX_VALUES

export const parsedJson = (text: string): Result.Result<unknown, ChatInvalid> => {
  if (text.length > SMALL_TEXT && !isParsable(text)) {
    return Result.fail(new ChatInvalid({ message: TOO_LARGE, param: null, code: null }))
  }
  try {
    return Result.succeed(JSON.parse(text))
  } catch {
    return Result.fail(notJson())
  }
}

export const notJson = () =>
  new ChatInvalid({ message: "The body must be JSON in UTF-8.", param: null, code: "invalid_json" })

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/** One pass over the text; whether it is JSON at all, the parser says. */
export const isParsable = (text: string): boolean => {
  let depth = 0
  let marks = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = endOfString(text, at)
      if (at === -1) return true
    } else if (code === OPEN_BRACKET || code === OPEN_BRACE) {
      if (++depth > MAX_DEPTH || ++marks > MAX_MARKS) return false
    } else if (code === CLOSE_BRACKET || code === CLOSE_BRACE) depth--
    else if ((code === COMMA || code === COLON) && ++marks > MAX_MARKS) return false
  }
  return true
}

/** The closing quote of the string that begins at `start`; -1: it has none. */
const endOfString = (text: string, start: number): number => {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let escapes = 0
    while (text.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes++
    if (escapes % 2 === 0) return at
  }
  return -1
}
