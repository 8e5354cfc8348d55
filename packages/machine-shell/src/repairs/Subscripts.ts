/**
 * `${gpus[$((i % n))]}`: the interpreter reads no arithmetic of its own in a subscript. So a part in front of it that
 * expands to nothing calculates it, into a variable that is the subscript then.
 */
import { statementsOf, walk } from "../core/Syntax.ts"
import type { ScriptNode, WordPart } from "../core/Syntax.ts"

/** What a subscript is; the number of the subscript follows. */
const VALUE = "SHELL_SUBSCRIPT_"
const CALCULATED = /^([A-Za-z_]\w*)\[\$\(\((.*)\)\)\]$/s

export const subscripted = (script: ScriptNode): void => {
  let count = 0
  const split = (part: WordPart): ReadonlyArray<WordPart> => {
    if (part.type !== "ParameterExpansion") return [part]
    const [, name, expression = ")"] = CALCULATED.exec(part.parameter) ?? []
    if (!isOne(expression)) return [part]
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

/** Not the end of one expression and the beginning of another. */
const isOne = (text: string): boolean => {
  let depth = 0
  for (const one of text) {
    if (one === "(") depth++
    else if (one === ")" && --depth < 0) return false
  }
  return depth === 0
}

/** Undefined: it is none, and the interpreter says why. */
const partsOf = (word: string): ReadonlyArray<WordPart> | undefined => {
  try {
    const [command] = statementsOf(`: ${word}`)[0]!.pipelines[0]!.commands
    return command?.type === "SimpleCommand" ? command.args[0]!.parts : undefined
  } catch {
    return undefined
  }
}
