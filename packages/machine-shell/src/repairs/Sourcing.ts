/**
 * Rewrites the texts of `eval TEXT` and `. FILE`, which the interpreter runs as they are written. A command rewrites
 * the text first: `eval` gets the output of the command, and `.` gets the path of a file with the rewritten text.
 */
import { MARK, nameOf, replaceExpansions, statement, walk, word } from "../core/Syntax.ts"
import type { CommandNode, ScriptNode, SimpleCommandNode, WordNode } from "../core/Syntax.ts"

/** The command that prints its arguments as one rewritten script. */
export const TEXT = `${MARK}text`
/** The command that prints the path of a file with the rewritten script of the named file. */
export const FILE = `${MARK}file`

export const rewriteSourcing = (script: ScriptNode): void =>
  walk(script, (node) => {
    const command = node as unknown as CommandNode
    const name = nameOf(command)
    if (command.type !== "SimpleCommand" || command.args.length === 0) return
    if (name === "eval") command.args = [outputOf(TEXT, command.args)]
    else if (name === "." || name === "source") {
      const at = isEndOfOptions(command.args[0]!) ? 1 : 0
      if (command.args[at] !== undefined) command.args[at] = outputOf(FILE, [command.args[at]])
    }
  })

/** Replaces `${BASH_SOURCE[0]}`, which the interpreter lacks, by `$0` in a script. */
export const rewriteScriptPath = (script: ScriptNode): void =>
  walk(script, (node) => {
    if (node["type"] === "ParameterExpansion" && OWN_PATH.test(String(node["parameter"]))) node["parameter"] = "0"
  })

/** Replaces `${BASH_SOURCE[0]}` by the path in a script that is read from a file. */
export const setScriptPath = (script: ScriptNode, path: string): void =>
  replaceExpansions(script, ({ parameter }) => OWN_PATH.test(parameter), path)

const OWN_PATH = /^BASH_SOURCE(\[0\])?$/

/** Lets the commands of `eval` and `.` write to the console. */
export const streamSourced = ({ args }: SimpleCommandNode): void => {
  for (const arg of args)
    walk(arg, (node) => {
      const command = node as unknown as SimpleCommandNode
      const name = nameOf(command)
      if (name === TEXT || name === FILE) command.args[0] = word("streamed")
    })
}

const isEndOfOptions = ({ parts: [first] }: WordNode): boolean => first?.type === "Literal" && first.value === "--"

/**
 * Returns the output of a command as a word. The command gets the mode and `$?`, and exits with that status, so that
 * the text still reads it.
 */
const outputOf = (name: string, words: ReadonlyArray<WordNode>): WordNode => {
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
