/** Splits an awk program into tokens. */
const TOKEN =
  /"(?:\\.|[^"\\])*"|#[^\n]*|\$?[A-Za-z_]\w*|\$?(?:\d[\w.]*(?:(?<=[eE])[-+]\d+)?|\.\d\w*)|>>|\*\*|\+\+|--|&&|\|\||!~|[-+*/%^=!<>]=|[ \t]+|\\\n|[^]/y
const PATTERN = /\/(?:\\.|[^/\\\n])+\//y

/** Returns the tokens. Joined, they give the program again. */
export const tokensOf = (program: string): Array<string> => {
  const tokens: Array<string> = []
  let hasOperand = false
  for (let at = 0; at < program.length;) {
    const rule: RegExp = program[at] === "/" && !hasOperand ? PATTERN : TOKEN
    rule.lastIndex = at
    const token: string = rule.exec(program)?.[0] ?? program[at]!
    tokens.push(token)
    at += token.length
    // Behind an operand a slash divides; elsewhere it begins a pattern.
    if (!isBlank(token)) hasOperand = /^["$\w)\]]/.test(token) && token !== "print" && token !== "return"
  }
  return tokens
}

export const isBlank = (token: string): boolean => /^(?:[ \t]+|\\\n)$/.test(token)

/** Returns the index of the first token from there on that is not blank. */
export const skipBlanks = (tokens: ReadonlyArray<string>, from: number): number => {
  let at = from
  while (at < tokens.length && isBlank(tokens[at]!)) at++
  return at
}
