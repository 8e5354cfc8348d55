/**
 * `eval TEXT` and `. FILE`: the interpreter runs what it reads there as it is written. So a command rewrites the text
 * first, and `eval` gets what that prints; `.` gets the path of a file which holds it.
 */
import { MARK, nameOf, spelled, statement, walk, word } from "../core/Syntax.ts"
import type { CommandNode, ScriptNode, SimpleCommandNode, WordNode } from "../core/Syntax.ts"

/** Prints the text that its arguments are, rewritten. */
export const TEXT = `${MARK}text`
/** Prints where the file of this name is, rewritten. */
export const FILE = `${MARK}file`

export const sourced = (script: ScriptNode): void =>
  walk(script, (node) => {
    const command = node as unknown as CommandNode
    const name = nameOf(command)
    if (command.type !== "SimpleCommand" || command.args.length === 0) return
    if (name === "eval") command.args = [printedBy(TEXT, command.args)]
    else if (name === "." || name === "source") {
      const at = isEnd(command.args[0]!) ? 1 : 0
      if (command.args[at] !== undefined) command.args[at] = printedBy(FILE, [command.args[at]])
    }
  })

/** `${BASH_SOURCE[0]}`, which the interpreter lacks, is of a script what `$0` is. */
export const located = (script: ScriptNode): void =>
  walk(script, (node) => {
    if (node["type"] === "ParameterExpansion" && OWN_PATH.test(String(node["parameter"]))) node["parameter"] = "0"
  })

/** The same of what is read from a file by this path. */
export const readFrom = (script: ScriptNode, path: string): void =>
  spelled(script, ({ parameter }) => OWN_PATH.test(parameter), path)

const OWN_PATH = /^BASH_SOURCE(\[0\])?$/

/** Lets what `eval` and `.` run write to the console. */
export const onConsole = ({ args }: SimpleCommandNode): void => {
  for (const arg of args)
    walk(arg, (node) => {
      const command = node as unknown as SimpleCommandNode
      const name = nameOf(command)
      if (name === TEXT || name === FILE) command.args[0] = word("streamed")
    })
}

const isEnd = ({ parts: [first] }: WordNode): boolean => first?.type === "Literal" && first.value === "--"

/** With `$?` behind the mode: the command ends with it, so that what is run sees it as it was. */
const printedBy = (name: string, words: ReadonlyArray<WordNode>): WordNode => {
  const command: CommandNode = {
    type: "SimpleCommand",
    name: { type: "Word", parts: [{ type: "Literal", value: name }] },
    args: [word("captured"), STATUS, ...words],
    assignments: [],
    redirections: []
  }
  const body: ScriptNode = { type: "Script", statements: [statement(command)] }
  return {
    type: "Word",
    parts: [{ type: "DoubleQuoted", parts: [{ type: "CommandSubstitution", body, legacy: false }] }]
  }
}

const STATUS: WordNode = { type: "Word", parts: [{ type: "ParameterExpansion", parameter: "?", operation: null }] }
