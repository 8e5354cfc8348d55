/** `set -x`: the interpreter tells of a command after what it has written, and of some when the script ends. */
import { MARK, nameOf, walk } from "./Syntax.ts"
import type { CommandNode, ScriptNode } from "./Syntax.ts"

const XTRACE = /"-[a-zA-Z]*x[a-zA-Z]*"|"xtrace"/

/** Whether a script may trace itself. */
export const isTraced = (script: ScriptNode): boolean => {
  let found = false
  walk(script, (node) => {
    const command = node as unknown as CommandNode
    if (command.type !== "SimpleCommand" || nameOf(command) !== "set") return
    found ||= XTRACE.test(JSON.stringify(command.args))
  })
  return found
}

/** What one command has written, with what is told of it in front, and nothing of what rewriting has added. */
export const toldFirst = (text: string): string => {
  const lines =
    text
      .replace(ADDED, "")
      .replace(TWIN, "$1")
      .match(/[^\n]*\n|[^\n]+$/g) ?? []
  return [...lines.filter(isTold), ...lines.filter((line) => !isTold(line))].join("")
}
const ADDED = new RegExp(
  `^\\++ (?:${MARK}(?:leave|status|fork|tic|toc|text|file) .*|declare -[aA]|eval .* &>> /dev/console.*)\n`,
  "gm"
)
const TWIN = new RegExp(`^(\\++ )${MARK}`, "gm")
const isTold = (line: string): boolean => /^\++ /.test(line)
