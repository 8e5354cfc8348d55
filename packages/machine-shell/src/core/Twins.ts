/**
 * The twin of a function: a copy under another name, whose commands write to the console. A call whose output is not
 * captured runs the twin.
 */
import { CONSOLE } from "./MachineFs.ts"
import { group, MARK, sourceOf, replaceExpansions, statement } from "./Syntax.ts"
import type { CommandNode, FunctionDefNode } from "./Syntax.ts"

/** By the name of the function. */
export type Functions = Map<string, { readonly source: string; readonly definition: CommandNode }>

export const undefinedTwin = (name: string): string => `${MARK}${name}() { ${name} "$@" &>>${CONSOLE}; }`

/**
 * Characters of functions that get a twin. Each is copied with the functions within it, so nesting doubles them; the
 * limit keeps a hostile script small.
 */
export const MAX_TWINNED = 65_536

/** Returns the definition with its twin. Without room for a twin, calls of the function write when they end. */
export const addTwin = (definition: FunctionDefNode, functions: Functions, budget: { left: number }): CommandNode => {
  const source = sourceOf([statement(definition)])
  budget.left -= source.length
  const defined = budget.left < 0 ? definition : group([statement(definition), statement(twinOf(definition))])
  functions.set(definition.name, { source, definition: defined })
  return defined
}

const twinOf = (definition: FunctionDefNode): FunctionDefNode => {
  const twin = structuredClone(definition)
  const isName = /^FUNCNAME(\[0\])?$/
  replaceExpansions(
    twin.body,
    ({ operation, parameter }) => operation === null && isName.test(parameter),
    definition.name
  )
  return { ...twin, name: MARK + definition.name }
}
