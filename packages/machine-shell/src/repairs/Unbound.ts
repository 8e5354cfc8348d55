/**
 * Rewrites what ends a script where a parameter is not set. `${x:?why}` of the interpreter says why, but not of which
 * parameter, and forgets the variables that a handler of the EXIT trap needs. `$x` under `set -u` ends nothing within a
 * function, a loop or a `[[ ... ]]`; put as `${x?...}` it does. A script that takes `set -u` back stays as it is.
 */
import { LAST_JOB } from "../core/Determinism.ts"
import { MARK, nameOf, statementsOf, walk } from "../core/Syntax.ts"
import type { CommandNode, Redirection, ScriptNode, StatementNode, WordNode, WordPart } from "../core/Syntax.ts"

/** Keeps the variables of the script that ends, where it is not a background job. */
const LEAVE = `${MARK}leave`
const leaves = (value: unknown): boolean => JSON.stringify(value).includes(JSON.stringify(LEAVE).slice(1, -1))
const NAME = /^(?:[A-Za-z_]\w*|\d+)(?:\[[^@*\]]+\])?$/

export const bound = (script: ScriptNode): void => {
  let takesBack = false
  walk(script, (node) => {
    if (isSet(node as unknown as CommandNode)) takesBack ||= /"\+/.test(JSON.stringify(node["args"]))
    const operation = node["operation"] as Ending | null
    if (node["type"] !== "ParameterExpansion" || operation?.type !== "ErrorIfUnset") return
    const { word, checkEmpty } = operation
    if (leaves(word)) return
    const told = word?.parts.filter((part) => part.type !== "Literal" || part.value !== "") ?? []
    const why = told.length > 0 ? told : [literal(`parameter ${checkEmpty ? "null or " : ""}not set`)]
    node["operation"] = ending(String(node["parameter"]), why, checkEmpty)
  })
  const from = takesBack ? -1 : script.statements.findIndex(isNounset)
  if (from >= 0) for (const one of script.statements.slice(from)) bind(one)
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

const isSet = (command: CommandNode): boolean => command.type === "SimpleCommand" && nameOf(command) === "set"

const isNounset = ({ background, pipelines }: StatementNode): boolean =>
  !background &&
  pipelines.some(
    ({ commands: [command, ...more] }) =>
      command?.type === "SimpleCommand" &&
      more.length === 0 &&
      isSet(command) &&
      /"-[a-zA-Z]*u[a-zA-Z]*"|"nounset"/.test(JSON.stringify(command.args))
  )

const bind = (value: unknown): void => {
  if (typeof value !== "object" || value === null) return
  const node = value as Record<string, unknown>
  // The interpreter makes an error of its own of every end within these two.
  if (node["type"] === "ArithmeticExpansion" || node["type"] === "ArithmeticCommand") return
  if (node["type"] === "ConditionalCommand") {
    const words = firstOf(node["expression"] as Condition)
    bind(words)
    if (leaves(words)) node["redirections"] = [...(node["redirections"] as Array<Redirection>), ...words.map(read)]
    return
  }
  for (const key in node) bind(node[key])
  const name = String(node["parameter"])
  if (node["type"] === "ParameterExpansion" && node["operation"] === null && NAME.test(name))
    node["operation"] = ending(shown(name), [literal("unbound variable")], false)
}

const shown = (name: string): string => (name === LAST_JOB ? "$!" : /^\d/.test(name) ? `$${name}` : name)

interface Condition {
  readonly left?: Condition | WordNode
  readonly right?: Condition | WordNode
  readonly operand?: Condition | WordNode
  readonly expression?: Condition
  readonly word?: WordNode
  readonly type: string
}

/** The words that a condition reads whatever it comes to. */
const firstOf = ({ type, left, right, operand, expression, word }: Condition): Array<WordNode> => {
  const next = type === "CondBinary" ? undefined : (left ?? expression ?? (type === "CondNot" ? operand : undefined))
  if (next !== undefined) return firstOf(next as Condition)
  const words = [left, right, operand, word].filter((one) => one?.type === "Word") as Array<WordNode>
  return structuredClone(words)
}

/** Reads a word into where nobody looks. */
const read = (target: WordNode): Redirection => ({
  type: "Redirection",
  fd: 61,
  operator: "<<<",
  target
})
