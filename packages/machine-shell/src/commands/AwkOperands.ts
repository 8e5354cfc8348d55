/**
 * Puts operands of awk that stand side by side in parentheses. They are one text, and a comparison takes all of it:
 * `$1 ~ "^" name "$"`. The interpreter compares first. It also takes a name in front of a blank and a parenthesis for a
 * call, so such a name gets parentheses too.
 */
import { skipBlanks, isBlank } from "./AwkTokens.ts"

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

/** The tokens between two operators that bind less tightly than operands side by side. */
interface Stretch {
  /** The index of its first token in the output. */
  begin: number
  /** True: an operand has just ended, so another one would stand beside it. */
  hasOperand: boolean
  /** True: it has more than one operand. */
  isJoined: boolean
  /** True: a comparison stands in front of it. */
  isCompared: boolean
  /** True: it begins directly behind `print`, where parentheses would hold all that is printed. */
  isPrinted: boolean
  /** True: it has a `getline`, so the operand behind its `<` is a file. */
  hasGetline: boolean
  /** True: its parentheses hold the condition of a statement, behind which another statement begins. */
  readonly isCondition: boolean
}

export const parenthesizeOperands = (tokens: ReadonlyArray<string>): Array<string> => {
  const written: Array<string> = []
  const functions = new Set(tokens.filter((_, at) => /^func(?:tion)?$/.test(wordBefore(tokens, at))))
  const stretch = (isCondition: boolean): Stretch => ({ ...FRESH, begin: written.length, isCondition })
  const open: Array<Stretch> = [stretch(false)]
  /** Ends a stretch at an operator, or at another token that is no operand. */
  const end = (by: string) => {
    const last = open.at(-1)!
    const compares = COMPARES.test(by) && !(by === "<" && last.hasGetline)
    if (last.isJoined && !last.hasGetline && (last.isCompared || (compares && !last.isPrinted))) {
      const until = written.findLastIndex((token) => !isBlank(token)) + 1
      written.splice(until, 0, ")")
      written.splice(skipBlanks(written, last.begin), 0, "(")
    }
    written.push(by)
    Object.assign(last, { ...FRESH, begin: written.length, isCompared: compares, isPrinted: /^printf?$/.test(by) })
  }
  /** Begins an operand, or a part of one such as the `$` of a field. */
  const begin = () => {
    const last = open.at(-1)!
    if (last.hasOperand) last.isJoined = true
    last.hasOperand = false
  }
  for (const [at, token] of tokens.entries()) {
    const last = open.at(-1)!
    const before = tokens[at - 1] ?? ""
    if (isBlank(token) || token.startsWith("#")) written.push(token)
    else if (token === "(" || token === "[") {
      const word = wordBefore(tokens, at)
      const isCall = NAME.test(word) && (before === word || BUILTINS.test(word) || functions.has(word))
      if (token === "(" && last.hasOperand && !isCall) {
        if (/^\$?[A-Za-z_]\w*$/.test(word)) written[written.lastIndexOf(word)] = `(${word})`
        begin()
      }
      written.push(token)
      open.push(stretch(CONTROLS.test(word)))
    } else if (token === ")" || token === "]") {
      end(token)
      const closed = open.length > 1 ? open.pop()! : open[0]!
      const around = open.at(-1)!
      if (closed.isCondition) Object.assign(around, { ...FRESH, begin: written.length })
      else around.hasOperand = true
    } else if (STEPS.test(token)) written.push(token)
    else if (token === "$" || (token === "!" && !last.hasOperand)) {
      if (token === "$") begin()
      written.push(token)
    } else if (BINARY.test(token)) {
      last.hasOperand = false
      written.push(token)
    } else if (OPERAND.test(token) && !KEYWORDS.test(token)) {
      begin()
      last.hasOperand = true
      if (token === "getline") last.hasGetline = true
      written.push(token)
    } else end(token)
  }
  end("")
  return written
}

const FRESH = { hasOperand: false, isJoined: false, isCompared: false, isPrinted: false, hasGetline: false }

/** Returns the nearest token before this one that is not blank. */
const wordBefore = (tokens: ReadonlyArray<string>, at: number): string => {
  while (at > 0 && isBlank(tokens[at - 1]!)) at--
  return tokens[at - 1] ?? ""
}
