/**
 * Rewrites arithmetic that the interpreter gets wrong: `((n>=3))` is read as `n > =3`, and a command within arithmetic
 * would run in a shell of its own, without the variables and functions of the script.
 */
import { become, group, MARK, statement, statementsOf, walk } from "./Syntax.ts"
import type { ArithmeticCommandNode, ArithmeticExpansionPart, ScriptNode, StatementNode } from "./Syntax.ts"

/** What a command within arithmetic gave; the number of the command follows. */
const VALUE = "SHELL_ARITHMETIC_"

export const calculated = (script: ScriptNode): void =>
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

type Expression = ArithmeticCommandNode["expression"]

/** The interpreter gives the text of `((...))` in words, split in front of the `=`. */
const rejoined = (expression: Expression): Expression => {
  const { originalText = "" } = expression
  const text = originalText.replace(/([<>]) =/g, "$1=")
  if (expression.expression.type !== "ArithSyntaxError" || text === originalText) return expression
  let found = expression
  walk(statementsOf(`: $((${text}))`), (node) => {
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
