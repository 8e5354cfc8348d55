/**
 * A function called where its output is not captured runs as its twin: a copy of it under another name, whose commands write
 * to the console.
 */
import { CONSOLE } from "./MachineFs.ts"
import { group, MARK, sourceOf, spelled, statement } from "./Syntax.ts"
import type { CommandNode, FunctionDefNode } from "./Syntax.ts"

/** By name. */
export type Functions = Map<string, { readonly source: string; readonly definition: CommandNode }>

export const undefinedTwin = (name: string): string => `${MARK}${name}() { ${name} "$@" &>>${CONSOLE}; }`

/** Characters of functions that get a twin: each is copied with those within it, so that nesting doubles them. */
export const MAX_TWINNED = 65_536

/** Where there is no room for a twin, its calls write when they end. */
export const withTwin = (definition: FunctionDefNode, functions: Functions, room: { left: number }): CommandNode => {
  const source = sourceOf([statement(definition)])
  room.left -= source.length
  const twinned = room.left < 0 ? definition : group([statement(definition), statement(twinOf(definition))])
  functions.set(definition.name, { source, definition: twinned })
  return twinned
}

const twinOf = (definition: FunctionDefNode): FunctionDefNode => {
  const twin = structuredClone(definition)
  const isName = /^FUNCNAME(\[0\])?$/
  spelled(twin.body, ({ operation, parameter }) => operation === null && isName.test(parameter), definition.name)
  return { ...twin, name: MARK + definition.name }
}
