/**
 * Rewrites `${gpus[$((i % n))]}`: the interpreter does not evaluate arithmetic in a subscript. A part in front, which
 * expands to nothing, evaluates it into a variable, and the variable becomes the subscript.
 */
import { statementsOf, walk } from "../core/Syntax.ts"
import type { ScriptNode, WordPart } from "../core/Syntax.ts"

/** Begins the names of the variables that hold subscripts; the subscript's number follows. */
const VALUE = "SHELL_SUBSCRIPT_"
const CALCULATED = /^([A-Za-z_]\w*)\[\$\(\((.*)\)\)\]$/s

export const rewriteSubscripts = (script: ScriptNode): void => {
  let count = 0
  const split = (part: WordPart): ReadonlyArray<WordPart> => {
    if (part.type !== "ParameterExpansion") return [part]
    const [, name, expression = ")"] = CALCULATED.exec(part.parameter) ?? []
    if (!isBalanced(expression)) return [part]
    const variable = VALUE + count
    const before = partsOf(`\${PWD:${variable}=(${expression}):0}`)
    if (before === undefined) return [part]
    count++
    return [...before, { ...part, parameter: `${name}[$${variable}]` }]
  }
  walk(script, (node) => {
    if (Array.isArray(node["parts"])) node["parts"] = (node["parts"] as Array<WordPart>).flatMap(split)
  })
}

/** False for the end of one expression and the beginning of another. */
const isBalanced = (text: string): boolean => {
  let depth = 0
  for (const one of text) {
    if (one === "(") depth++
    else if (one === ")" && --depth < 0) return false
  }
  return depth === 0
}

/** Returns undefined for a text that is no expression; the interpreter reports it. */
const partsOf = (word: string): ReadonlyArray<WordPart> | undefined => {
  try {
    const [command] = statementsOf(`: ${word}`)[0]!.pipelines[0]!.commands
    return command?.type === "SimpleCommand" ? command.args[0]!.parts : undefined
  } catch {
    return undefined
  }
}
