/** The tokens of an awk program. */
const TOKEN =
  /"(?:\\.|[^"\\])*"|#[^\n]*|\$?[A-Za-z_]\w*|\$?(?:\d[\w.]*(?:(?<=[eE])[-+]\d+)?|\.\d\w*)|>>|\*\*|\+\+|--|&&|\|\||!~|[-+*/%^=!<>]=|[ \t]+|\\\n|[^]/y
const PATTERN = /\/(?:\\.|[^/\\\n])+\//y

/** Put together they give the program back. */
export const tokensOf = (program: string): Array<string> => {
  const tokens: Array<string> = []
  let operand = false
  for (let at = 0; at < program.length;) {
    const rule: RegExp = program[at] === "/" && !operand ? PATTERN : TOKEN
    rule.lastIndex = at
    const token: string = rule.exec(program)?.[0] ?? program[at]!
    tokens.push(token)
    at += token.length
    // A slash behind an operand divides; elsewhere it begins a pattern.
    if (!isBlank(token)) operand = /^["$\w)\]]/.test(token) && token !== "print" && token !== "return"
  }
  return tokens
}

export const isBlank = (token: string): boolean => /^(?:[ \t]+|\\\n)$/.test(token)

/** The first token from there on that is not blank. */
export const behind = (tokens: ReadonlyArray<string>, from: number): number => {
  let at = from
  while (at < tokens.length && isBlank(tokens[at]!)) at++
  return at
}
