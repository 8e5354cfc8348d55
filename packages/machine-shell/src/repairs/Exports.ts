/**
 * Repairs `export -f work`: the shells that the script runs, by `xargs` and others, get its functions. The
 * interpreter's own shells do not.
 */
import { replaceNode, nameOf, sourceOf, statement, statementsOf, walk } from "../core/Syntax.ts"
import type { CommandNode, FunctionDefNode, ScriptNode, WordNode } from "../core/Syntax.ts"

/** The sources of the exported functions, by their names. */
export type Exports = Map<string, string>

export const collectExportedFunctions = (script: ScriptNode, exports: Exports): void => {
  const functions = new Map<string, FunctionDefNode>()
  walk(script, (node) => {
    const command = node as unknown as CommandNode
    if (command.type === "FunctionDef") functions.set(command.name, command)
  })
  if (functions.size === 0) return
  walk(script, (node) => {
    const command = node as unknown as CommandNode
    if (command.type !== "SimpleCommand" || nameOf(command) !== "export") return
    const [option, ...names] = command.args.map(textOf)
    const meant = names.map((name) => functions.get(name))
    // The interpreter reports a name that is no function.
    if (option !== "-f" || !meant.every((one) => one !== undefined)) return
    for (const one of meant) exports.set(one.name, sourceOf([statement(one)]))
    replaceNode(node, statementsOf(":")[0]!.pipelines[0]!.commands[0]!)
  })
}

export const prependExportedFunctions = (script: ScriptNode, exports: Exports): void => {
  if (exports.size > 0) script.statements.unshift(...statementsOf([...exports.values()].join("\n")))
}

const textOf = ({ parts: [first] }: WordNode): string => (first?.type === "Literal" ? first.value : "")
