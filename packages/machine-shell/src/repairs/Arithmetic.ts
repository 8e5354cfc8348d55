/**
 * Rewrites arithmetic that the interpreter gets wrong. It parses `((n>=3))` as `n > =3`, `((!n))` and `((n - 1))` as
 * two subshells, and `((n << 1))` as a here-document. It runs a command within arithmetic in a shell of its own,
 * without the variables and functions of the script and without the command's quotes.
 */
import { parse } from "just-bash"
import { replaceNode, group, MARK, statement, statementsOf, walk } from "../core/Syntax.ts"
import type { ArithmeticCommandNode, ArithmeticExpansionPart, ScriptNode, StatementNode } from "../core/Syntax.ts"

/**
 * Begins the names of the variables that hold the results of commands within arithmetic; the command's number follows.
 */
const VALUE = "SHELL_ARITHMETIC_"

/**
 * Returns a script that the parser accepts: where the source does not parse, its arithmetic and `<<< name=value` are
 * spelled in another way. Returns the source itself when that is not needed or does not help.
 */
export const rewriteForParser = (source: string): string => {
  const other = source
    .replace(ARITHMETIC, (found, text: string) => (/<<|!/.test(text) ? `[ $((${text})) != 0 ]` : found))
    .replace(REDIRECTED_ASSIGNMENT, "$1'$2'")
  return other === source || canParse(source) || !canParse(other) ? source : other
}

const ARITHMETIC = /(?<![$\w"'])(?<!\bfor\s{0,9})\(\(([^()"'`\n]*)\)\)/g

const REDIRECTED_ASSIGNMENT = /((?:<<<|[<>]>?)[ \t]*)([A-Za-z_]\w*=)/g

const canParse = (source: string): boolean => {
  try {
    parse(source)
    return true
  } catch {
    return false
  }
}

export const rewriteArithmetic = (script: ScriptNode): void => {
  walk(script, (node) => {
    if (node["type"] === "Statement") rewriteSubshells(node as unknown as StatementNode)
  })
  walk(script, (node) => {
    if (node["type"] === "ArithmeticCommand") {
      const command = node as unknown as ArithmeticCommandNode
      command.expression = parseComparisons(command.expression)
      const before = hoistCommands(command.expression, true)
      if (before.length > 0) replaceNode(node, group([...before, statement({ ...command })]))
    } else if (node["type"] === "ArithmeticExpansion") {
      const part = { ...node } as unknown as ArithmeticExpansionPart
      const before = hoistCommands(part.expression)
      if (before.length === 0) return
      const shown = statementsOf("echo x")
      const echo = shown[0]!.pipelines[0]!.commands[0]!
      if (echo.type === "SimpleCommand") echo.args = [{ type: "Word", parts: [part] }]
      const body: ScriptNode = { type: "Script", statements: [...before, ...shown] }
      replaceNode(node, { type: "CommandSubstitution", body, legacy: false })
    }
  })
}

type Expression = ArithmeticCommandNode["expression"]

/**
 * Parses the text of `((...))` again. The interpreter keeps it as words, and splits `>=` and `<=` in front of the `=`.
 */
const parseComparisons = (expression: Expression): Expression => {
  const { originalText = "" } = expression
  const text = originalText.replace(/([<>]) =/g, "$1=")
  return (
    (expression.expression.type === "ArithSyntaxError" && text !== originalText && parseExpression(text)) || expression
  )
}

/** Turns two subshells whose parentheses touch into arithmetic, as bash does. */
const rewriteSubshells = ({ pipelines, sourceText = "" }: StatementNode): void => {
  let from = 0
  for (const { commands } of pipelines)
    for (const command of commands) {
      const text = command.type === "Subshell" && command.body.length === 1 ? (command.body[0]!.sourceText ?? "") : ""
      if (!/^\([^]*\)$/.test(text)) continue
      const at = sourceText.indexOf(text, from)
      from = at + text.length
      if (sourceText[at - 1] !== "(" || sourceText[from] !== ")") continue
      const expression = parseExpression(text.slice(1, -1))
      if (expression !== undefined && expression.expression.type !== "ArithSyntaxError")
        replaceNode(command as never, { type: "ArithmeticCommand", expression, redirections: command.redirections })
    }
}

const parseExpression = (text: string): Expression | undefined => {
  let found: Expression | undefined
  const source = `: $((${text}))`
  if (canParse(source))
    walk(statementsOf(source), (node) => {
      if (node["type"] === "ArithmeticExpansion") found = (node as unknown as ArithmeticExpansionPart).expression
    })
  return found
}

/**
 * Assigns the output of the commands to variables, which the expression then reads. Returns the assignments, which run
 * before the expression.
 */
const hoistCommands = (expression: Expression, inCommand = false): Array<StatementNode> => {
  const sources = substitutionsOf(expression.originalText ?? "")
  const before = hoistBases(expression, inCommand || sources.length > 0)
  walk(expression.expression, (node) => {
    const command = String(node["command"])
    // A command that `Determinism.ts` added needs nothing of the script.
    if (node["type"] !== "ArithCommandSubst" || command.startsWith(MARK)) return
    // The tree holds the command without its quotes; the source has them.
    const at = sources.findIndex((one) => withoutQuotes(one) === withoutQuotes(command))
    const source = at < 0 ? command : sources.splice(at, 1)[0]!
    const name = `${VALUE}${before.length}`
    const assignment = statementsOf(`${name}=$(${source})`)
    rewriteArithmetic({ type: "Script", statements: assignment })
    before.push(...assignment)
    replaceNode(node, { type: "ArithVariable", name, hasDollarPrefix: false })
  })
  // The interpreter evaluates a text with a `$name` again, in place of the rewritten tree.
  if (before.length > 0) delete expression.originalText
  return before
}

const withoutQuotes = (source: string): string => source.replace(/["'\\\s]/g, "")

/** Returns the commands of each `$(...)` in a text. A command ends at the first `)` with which it parses. */
const substitutionsOf = (text: string): Array<string> => {
  const found: Array<string> = []
  let room = MAX_PARSED_LENGTHS * text.length
  for (let at = text.indexOf("$("); at >= 0; at = text.indexOf("$(", at + 2)) {
    for (let end = text.indexOf(")", at); end >= 0; end = text.indexOf(")", end + 1)) {
      if ((room -= end - at) < 0) return found
      if (!canParse(`: ${text.slice(at, end + 1)}`)) continue
      found.push(text.slice(at + 2, end).replace(/([<>]) =/g, "$1="))
      at = end
      break
    }
  }
  return found
}
/** Bounds the parsing of a text, in multiples of its length, so that a hostile text takes no longer than others. */
const MAX_PARSED_LENGTHS = 20

/**
 * Replaces `10#${name}`. The interpreter knows only `10#$name`, and not in `((...))`, so the value goes to a variable.
 * Returns the assignments, which run before the expression.
 */
const hoistBases = (expression: Expression, inCommand: boolean): Array<StatementNode> => {
  const { originalText = "" } = expression
  const before: Array<StatementNode> = []
  const text = originalText.replace(BASED, (_, base: string, braced: string | undefined, plain = braced) => {
    const isName = /^\w+$/.test(plain)
    if (isName && !inCommand) return `${base}$${plain}`
    const name = `${VALUE}${before.length}`
    if (!isName) before.push(...statementsOf(`${name}=\${${braced}}`))
    before.push(...statementsOf(`${name}=$((${base}$${isName ? plain : name}))`))
    return name
  })
  const other = text === originalText ? undefined : parseExpression(text)
  if (other === undefined) return []
  Object.assign(expression, other)
  return before
}
const BASED = /(?<!\w)(\d+#)\$(?:\{([^{}]+)\}|(\w+))/g
