/**
 * Rewrites arithmetic that the interpreter gets wrong: `((n>=3))` is read as `n > =3`, `((!n))` and `((n - 1))` as two
 * subshells, `((n << 1))` as a here-document. A command within arithmetic would run in a shell of its own, without the
 * variables and functions of the script.
 */
import { parse } from "just-bash"
import { become, group, MARK, statement, statementsOf, walk } from "./Syntax.ts"
import type { ArithmeticCommandNode, ArithmeticExpansionPart, ScriptNode, StatementNode } from "./Syntax.ts"

/** What a command within arithmetic gave; the number of the command follows. */
const VALUE = "SHELL_ARITHMETIC_"

/** A script that cannot be read for its arithmetic says it in another way. */
export const readable = (source: string): string => {
  const other = source.replace(ARITHMETIC, (found, text: string) =>
    /<<|!/.test(text) ? `[ $((${text})) != 0 ]` : found
  )
  return other === source || isReadable(source) || !isReadable(other) ? source : other
}

const ARITHMETIC = /(?<![$\w"'])(?<!\bfor\s{0,9})\(\(([^()"'`\n]*)\)\)/g

const isReadable = (source: string): boolean => {
  try {
    parse(source)
    return true
  } catch {
    return false
  }
}

export const calculated = (script: ScriptNode): void => {
  walk(script, (node) => {
    if (node["type"] === "Statement") reread(node as unknown as StatementNode)
  })
  walk(script, (node) => {
    if (node["type"] === "ArithmeticCommand") {
      const command = node as unknown as ArithmeticCommandNode
      command.expression = rejoined(command.expression)
      const before = hoisted(command.expression)
      if (before.length > 0) become(node, group([...before, statement({ ...command })]))
    } else if (node["type"] === "ArithmeticExpansion") {
      const part = { ...node } as unknown as ArithmeticExpansionPart
      const before = hoisted(part.expression)
      if (before.length === 0) return
      const shown = statementsOf("echo x")
      const echo = shown[0]!.pipelines[0]!.commands[0]!
      if (echo.type === "SimpleCommand") echo.args = [{ type: "Word", parts: [part] }]
      const body: ScriptNode = { type: "Script", statements: [...before, ...shown] }
      become(node, { type: "CommandSubstitution", body, legacy: false })
    }
  })
}

type Expression = ArithmeticCommandNode["expression"]

/** The interpreter gives the text of `((...))` in words, split in front of the `=`. */
const rejoined = (expression: Expression): Expression => {
  const { originalText = "" } = expression
  const text = originalText.replace(/([<>]) =/g, "$1=")
  return (expression.expression.type === "ArithSyntaxError" && text !== originalText && readAs(text)) || expression
}

/** Of two subshells whose parentheses touch bash makes arithmetic. */
const reread = ({ pipelines, sourceText = "" }: StatementNode): void => {
  let from = 0
  for (const { commands } of pipelines)
    for (const command of commands) {
      const text = command.type === "Subshell" && command.body.length === 1 ? (command.body[0]!.sourceText ?? "") : ""
      if (!/^\([^]*\)$/.test(text)) continue
      const at = sourceText.indexOf(text, from)
      from = at + text.length
      if (sourceText[at - 1] !== "(" || sourceText[from] !== ")") continue
      const expression = readAs(text.slice(1, -1))
      if (expression !== undefined && expression.expression.type !== "ArithSyntaxError")
        become(command as never, { type: "ArithmeticCommand", expression, redirections: command.redirections })
    }
}

const readAs = (text: string): Expression | undefined => {
  let found: Expression | undefined
  const source = `: $((${text}))`
  if (isReadable(source))
    walk(statementsOf(source), (node) => {
      if (node["type"] === "ArithmeticExpansion") found = (node as unknown as ArithmeticExpansionPart).expression
    })
  return found
}

/** Assigns what commands give to variables, and lets the expression read these. */
const hoisted = (expression: Expression): Array<StatementNode> => {
  const before: Array<StatementNode> = []
  walk(expression.expression, (node) => {
    const source = String(node["command"])
    // What `Determinism.ts` has put there needs nothing of the script.
    if (node["type"] !== "ArithCommandSubst" || source.startsWith(MARK)) return
    const name = `${VALUE}${before.length}`
    const assignment = statementsOf(`${name}=$(${source})`)
    calculated({ type: "Script", statements: assignment })
    before.push(...assignment)
    become(node, { type: "ArithVariable", name, hasDollarPrefix: false })
  })
  // The interpreter reads the text again where a `$name` is in it.
  if (before.length > 0) delete expression.originalText
  return before
}
