/**
 * Writes the answers of simulated models: plain English that takes up the words of the question, the same for the same
 * key. When the question asks to say, repeat or echo a text, the answer is that text. The answers claim no knowledge:
 * they are made up, and say so.
 */
import type { ChatRequest } from "@sluice/domain/models/ChatRequest"
import { between, pick } from "./Draws.ts"

/** Characters of the question that are read. */
const READ_LENGTH = 4_000
const TOPICS = 8
const QUOTE_WORDS = 14

/**
 * Returns the answer to a request, with a number of words drawn from the range. Of an answer with more than `max` words
 * the rest can be missing.
 */
export const prose = (request: ChatRequest, key: number, words: readonly [number, number], max: number): string => {
  const asked = lastUserText(request)
  const echo = /^\s*(?:say|repeat|echo)(?:\s+exactly)?(?:\s*:\s*|\s+)([^]+)$/i.exec(asked)
  if (echo !== null) return echo[1]!
  let topics: ReadonlyArray<string> | undefined
  const topic = (n: number) => pick(key, n, (topics ??= topicsOf(asked)))
  const target = Math.min(between(key, 0, words[0], words[1]), max + 1)
  const sentences = [opening(asked, key), ...pictures(request), ...results(request)]
  let length = 0
  for (const sentence of sentences) length += wordCount(sentence)
  for (let n = 1; length < target; n++) {
    const sentence = pick(key, n, n % 2 === 0 ? STATEMENTS : ADVICE).replace("{}", () => topic(n + 1_000))
    sentences.push(sentence)
    length += wordCount(sentence)
  }
  return sentences.join(" ")
}

/** Returns sentences about nothing in particular, cut to `words` words. */
export const statements = (key: number, words: number): string => {
  const said: Array<string> = []
  for (let n = 0; said.length < words; n++) {
    said.push(
      ...pick(key, n, n % 2 === 0 ? STATEMENTS : ADVICE)
        .replace("{}", "the recording")
        .split(" ")
    )
  }
  return said.slice(0, words).join(" ")
}

const lastUserText = (request: ChatRequest): string =>
  (request.messages.findLast((message) => message.role === "user") ?? request.messages.at(-1))?.text.slice(
    0,
    READ_LENGTH
  ) ?? ""

const opening = (asked: string, key: number): string => {
  const words = firstWords(asked, QUOTE_WORDS + 1)
  if (words.length === 0) return "You sent no text, so here is a general answer."
  const quote = words.slice(0, QUOTE_WORDS).join(" ").slice(0, 120).toWellFormed()
  return pick(key, 3_000, OPENINGS).replace("{}", () => (words.length > QUOTE_WORDS ? `${quote} ...` : quote))
}

const firstWords = (text: string, max: number): ReadonlyArray<string> => {
  const words = text.split(/\s+/, max + 1)
  return words.filter((word) => word !== "").slice(0, max)
}

const pictures = (request: ChatRequest): ReadonlyArray<string> => {
  const count = request.messages.reduce((sum, message) => sum + message.images.length, 0)
  return count === 0 ? [] : [`I received ${count === 1 ? "one image" : `${count} images`} with the question.`]
}

/** Returns a sentence about the last answer of a tool, if it is the last message. */
const results = (request: ChatRequest): ReadonlyArray<string> => {
  const last = request.messages.at(-1)
  return last?.role === "tool" ? [`The tool answered: ${last.text.slice(0, 200).toWellFormed()}.`] : []
}

/** Returns the longest distinct words of the question, which are probably its topics. */
const topicsOf = (asked: string): ReadonlyArray<string> => {
  const lower = asked.toLowerCase()
  // For plain English the first pattern finds the same words in a fraction of the time.
  const words = [...new Set(lower.match(isAscii(lower) ? /[a-z0-9]{5,24}/g : /[\p{L}\p{N}]{5,24}/gu) ?? [])]
  const longest = words.sort((a, b) => b.length - a.length || (a < b ? -1 : 1)).slice(0, TOPICS)
  return longest.length === 0 ? ["the question"] : longest
}

export const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text)

const wordCount = (text: string): number => {
  let count = 1
  for (let at = text.indexOf(" "); at >= 0; at = text.indexOf(" ", at + 1)) count++
  return count
}

const OPENINGS = [
  'You asked: "{}".',
  'On "{}" there is a short answer and a longer one.',
  'Let us look at "{}" step by step.',
  'Here is how I would approach "{}".',
  'Thank you for the question "{}".'
]

const STATEMENTS = [
  "The part about {} matters most here.",
  "Much depends on what {} means in your case.",
  "In practice {} is simpler than it looks at first.",
  "Two things follow from {}: the goal becomes smaller, and it becomes easier to test.",
  "It helps to write down what you already know about {}.",
  "Nothing here is urgent, so {} can be taken in small steps.",
  "A good measure for {} is how quickly a mistake is noticed.",
  "This is a simulated model, so its view of {} is made up."
]

const ADVICE = [
  "Start with {} and leave the rest for later.",
  "Check {} once before you build on it.",
  "If {} surprises you, look at the smallest example that shows it.",
  "Keep {} apart from everything that changes often.",
  "Ask someone who has worked with {} before.",
  "Compare {} with a case whose answer you know.",
  "When in doubt, measure {} instead of guessing.",
  "Write a short note on {} so that the next reader need not ask again."
]
