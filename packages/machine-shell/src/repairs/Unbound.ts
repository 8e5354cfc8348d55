/**
 * Rewrites the checks that end a script at an unset parameter. The interpreter's `${x:?why}` does not name the
 * parameter, and drops the variables that a handler of the EXIT trap needs. Its `$x` under `set -u` ends nothing within
 * a function, a loop or a `[[ ... ]]`, so it becomes `${x?...}`, which does. A script that undoes `set -u` keeps its
 * `$x`.
 */
import { LAST_JOB } from "../core/Determinism.ts"
import { MARK, nameOf, statementsOf, walk } from "../core/Syntax.ts"
import type { CommandNode, Redirection, ScriptNode, StatementNode, WordNode, WordPart } from "../core/Syntax.ts"

/** The command that saves the variables of a script that ends, unless it is a background job. */
const LEAVE = `${MARK}leave`
const hasLeave = (value: unknown): boolean => JSON.stringify(value).includes(JSON.stringify(LEAVE).slice(1, -1))
const NAME = /^(?:[A-Za-z_]\w*|\d+)(?:\[[^@*\]]+\])?$/

export const rewriteUnboundChecks = (script: ScriptNode): void => {
  let isUndone = false
  walk(script, (node) => {
    if (isSetCommand(node as unknown as CommandNode)) isUndone ||= /"\+/.test(JSON.stringify(node["args"]))
    const operation = node["operation"] as Ending | null
    if (node["type"] !== "ParameterExpansion" || operation?.type !== "ErrorIfUnset") return
    const { word, checkEmpty } = operation
    if (hasLeave(word)) return
    const message = word?.parts.filter((part) => part.type !== "Literal" || part.value !== "") ?? []
    const why = message.length > 0 ? message : [literal(`parameter ${checkEmpty ? "null or " : ""}not set`)]
    node["operation"] = ending(String(node["parameter"]), why, checkEmpty)
  })
  const from = isUndone ? -1 : script.statements.findIndex(isNounset)
  if (from >= 0) for (const one of script.statements.slice(from)) addChecks(one)
}

interface Ending {
  readonly type: "ErrorIfUnset"
  readonly word: WordNode | null
  readonly checkEmpty: boolean
}

const literal = (value: string): WordPart => ({ type: "Literal", value })
const ending = (name: string, why: ReadonlyArray<WordPart>, checkEmpty: boolean): Ending => {
  const body: ScriptNode = { type: "Script", statements: statementsOf(`${LEAVE} 1`) }
  const leave: WordPart = { type: "CommandSubstitution", body, legacy: false }
  return { type: "ErrorIfUnset", word: { type: "Word", parts: [literal(`${name}: `), ...why, leave] }, checkEmpty }
}

const isSetCommand = (command: CommandNode): boolean => command.type === "SimpleCommand" && nameOf(command) === "set"

const isNounset = ({ background, pipelines }: StatementNode): boolean =>
  !background &&
  pipelines.some(
    ({ commands: [command, ...more] }) =>
      command?.type === "SimpleCommand" &&
      more.length === 0 &&
      isSetCommand(command) &&
      /"-[a-zA-Z]*u[a-zA-Z]*"|"nounset"/.test(JSON.stringify(command.args))
  )

const addChecks = (value: unknown): void => {
  if (typeof value !== "object" || value === null) return
  const node = value as Record<string, unknown>
  // Within these two the interpreter turns every end into an error of its own.
  if (node["type"] === "ArithmeticExpansion" || node["type"] === "ArithmeticCommand") return
  if (node["type"] === "ConditionalCommand") {
    const words = wordsAlwaysRead(node["expression"] as Condition)
    addChecks(words)
    if (hasLeave(words))
      node["redirections"] = [...(node["redirections"] as Array<Redirection>), ...words.map(discardWord)]
    return
  }
  for (const key in node) addChecks(node[key])
  const name = String(node["parameter"])
  if (node["type"] === "ParameterExpansion" && node["operation"] === null && NAME.test(name))
    node["operation"] = ending(nameInMessage(name), [literal("unbound variable")], false)
}

const nameInMessage = (name: string): string => (name === LAST_JOB ? "$!" : /^\d/.test(name) ? `$${name}` : name)

interface Condition {
  readonly left?: Condition | WordNode
  readonly right?: Condition | WordNode
  readonly operand?: Condition | WordNode
  readonly expression?: Condition
  readonly word?: WordNode
  readonly type: string
}

/** Returns copies of the words that a condition always reads. */
const wordsAlwaysRead = ({ type, left, right, operand, expression, word }: Condition): Array<WordNode> => {
  const next = type === "CondBinary" ? undefined : (left ?? expression ?? (type === "CondNot" ? operand : undefined))
  if (next !== undefined) return wordsAlwaysRead(next as Condition)
  const words = [left, right, operand, word].filter((one) => one?.type === "Word") as Array<WordNode>
  return structuredClone(words)
}

/** Returns a redirection that expands a word and discards the result. */
const discardWord = (target: WordNode): Redirection => ({
  type: "Redirection",
  fd: 61,
  operator: "<<<",
  target
})
