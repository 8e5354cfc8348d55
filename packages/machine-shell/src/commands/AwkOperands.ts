/**
 * Operands that stand side by side are one text, and what compares takes all of it: `$1 ~ "^" name "$"`. The interpreter
 * compares first, and takes a name before a parenthesis for a call though a blank is between; so both are put in parentheses.
 */
import { behind, isBlank } from "./AwkTokens.ts"

const COMPARES = /^(?:[=!<>]=|!?~|[<>])$/
const BINARY = /^(?:[-+*/%^]|\*\*)$/
const STEPS = /^(?:\+\+|--)$/
const CONTROLS = /^(?:if|while|for)$/
/** Words that are no operands. */
const KEYWORDS =
  /^(?:print|printf|return|if|while|for|else|do|delete|exit|next|nextfile|break|continue|function|func|BEGIN|END|in|switch|case|default)$/
const BUILTINS =
  /^(?:length|substr|index|split|g?sub|gensub|match|sprintf|sin|cos|atan2|exp|log|sqrt|int|s?rand|to(?:lower|upper)|system|close|fflush|strftime|systime|mktime|and|x?or|[lr]shift|compl|asorti?|strtonum|getline)$/
const NAME = /^[A-Za-z_]\w*$/
const OPERAND = /^["$\w./]/

/** What stands between two operators that bind less than operands side by side do. */
interface Stretch {
  /** Where it begins in what is written. */
  begin: number
  /** An operand just ended: another one would stand beside it. */
  ended: boolean
  /** It is more than one operand. */
  joined: boolean
  /** It is compared with what is before it. */
  compared: boolean
  /** It begins right behind `print`: what is put in parentheses there would be all that is printed. */
  printed: boolean
  /** It has a `getline`: what is behind its `<` is a file. */
  reads: boolean
  /** What is in these parentheses is the condition of a statement, behind which another one begins. */
  readonly control: boolean
}

export const operandsJoined = (tokens: ReadonlyArray<string>): Array<string> => {
  const written: Array<string> = []
  const functions = new Set(tokens.filter((_, at) => /^func(?:tion)?$/.test(wordBefore(tokens, at))))
  const stretch = (control: boolean): Stretch => ({ ...FRESH, begin: written.length, control })
  const open: Array<Stretch> = [stretch(false)]
  /** Ends a stretch at an operator, or at whatever else is no operand. */
  const end = (by: string) => {
    const last = open.at(-1)!
    const compares = COMPARES.test(by) && !(by === "<" && last.reads)
    if (last.joined && !last.reads && (last.compared || (compares && !last.printed))) {
      const until = written.findLastIndex((token) => !isBlank(token)) + 1
      written.splice(until, 0, ")")
      written.splice(behind(written, last.begin), 0, "(")
    }
    written.push(by)
    Object.assign(last, { ...FRESH, begin: written.length, compared: compares, printed: /^printf?$/.test(by) })
  }
  /** An operand begins, or what is part of one: a sign in front of it, the rest of a call. */
  const begin = () => {
    const last = open.at(-1)!
    if (last.ended) last.joined = true
    last.ended = false
  }
  for (const [at, token] of tokens.entries()) {
    const last = open.at(-1)!
    const before = tokens[at - 1] ?? ""
    if (isBlank(token) || token.startsWith("#")) written.push(token)
    else if (token === "(" || token === "[") {
      const word = wordBefore(tokens, at)
      const isCall = NAME.test(word) && (before === word || BUILTINS.test(word) || functions.has(word))
      if (token === "(" && last.ended && !isCall) {
        if (/^\$?[A-Za-z_]\w*$/.test(word)) written[written.lastIndexOf(word)] = `(${word})`
        begin()
      }
      written.push(token)
      open.push(stretch(CONTROLS.test(word)))
    } else if (token === ")" || token === "]") {
      end(token)
      const closed = open.length > 1 ? open.pop()! : open[0]!
      const around = open.at(-1)!
      if (closed.control) Object.assign(around, { ...FRESH, begin: written.length })
      else around.ended = true
    } else if (STEPS.test(token)) written.push(token)
    else if (token === "$" || (token === "!" && !last.ended)) {
      if (token === "$") begin()
      written.push(token)
    } else if (BINARY.test(token)) {
      last.ended = false
      written.push(token)
    } else if (OPERAND.test(token) && !KEYWORDS.test(token)) {
      begin()
      last.ended = true
      if (token === "getline") last.reads = true
      written.push(token)
    } else end(token)
  }
  end("")
  return written
}

const FRESH = { ended: false, joined: false, compared: false, printed: false, reads: false }

/** The token before this one that is not blank. */
const wordBefore = (tokens: ReadonlyArray<string>, at: number): string => {
  while (at > 0 && isBlank(tokens[at - 1]!)) at--
  return tokens[at - 1] ?? ""
}
