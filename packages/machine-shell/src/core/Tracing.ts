/**
 * Repairs the output of `set -x`. The interpreter writes the trace of a command behind its output, and some traces only
 * when the script ends.
 */
import { MARK, nameOf, walk } from "./Syntax.ts"
import type { CommandNode, ScriptNode } from "./Syntax.ts"

const XTRACE = /"-[a-zA-Z]*x[a-zA-Z]*"|"xtrace"/

/** Returns true for a script that may trace itself. */
export const isTraced = (script: ScriptNode): boolean => {
  let found = false
  walk(script, (node) => {
    const command = node as unknown as CommandNode
    if (command.type !== "SimpleCommand" || nameOf(command) !== "set") return
    found ||= XTRACE.test(JSON.stringify(command.args))
  })
  return found
}

/** Returns the output of one command with its trace in front, without the traces of commands that rewriting added. */
export const moveTracesFirst = (text: string): string => {
  const lines =
    text
      .replace(ADDED, "")
      .replace(TWIN, "$1")
      .match(/[^\n]*\n|[^\n]+$/g) ?? []
  return [...lines.filter(isTraceLine), ...lines.filter((line) => !isTraceLine(line))].join("")
}
const ADDED = new RegExp(
  `^\\++ (?:${MARK}(?:leave|status|fork|tic|toc|text|file) .*|declare -[aA]|eval .* &>> /dev/console.*)\n`,
  "gm"
)
const TWIN = new RegExp(`^(\\++ )${MARK}`, "gm")
const isTraceLine = (line: string): boolean => /^\++ /.test(line)
