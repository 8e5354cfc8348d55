/**
 * Node types, constructors and helpers for the syntax tree of the shell. The walk does not need to know every kind of
 * node.
 */
import { parse, serialize } from "just-bash"
import type { CommandNode, PipelineNode, ScriptNode, SimpleCommandNode, StatementNode, WordNode } from "just-bash"

export type { CommandNode, PipelineNode, ScriptNode, SimpleCommandNode, StatementNode, WordNode }
export type FunctionDefNode = Extract<CommandNode, { type: "FunctionDef" }>
export type IfNode = Extract<CommandNode, { type: "If" }>
export type GroupNode = Extract<CommandNode, { type: "Group" }>
export type ArithmeticCommandNode = Extract<CommandNode, { type: "ArithmeticCommand" }>
export type WordPart = WordNode["parts"][number]
export type ArithmeticExpansionPart = Extract<WordPart, { type: "ArithmeticExpansion" }>
export type Redirection = SimpleCommandNode["redirections"][number]

/** Begins the names that only rewritten scripts use. No script contains it by accident. */
export const MARK = "\u0001"

/** Parses a script that this package itself writes. */
export const statementsOf = (source: string): Array<StatementNode> => parse(source).statements

export const sourceOf = (statements: Array<StatementNode>): string => serialize({ type: "Script", statements })

export const statement = (command: CommandNode): StatementNode => ({
  type: "Statement",
  pipelines: [{ type: "Pipeline", commands: [command], negated: false }],
  operators: [],
  background: false
})

export const group = (body: Array<StatementNode>, redirections: Array<Redirection> = []): GroupNode => ({
  type: "Group",
  body,
  redirections
})

export const word = (value: string): WordNode => ({ type: "Word", parts: [{ type: "SingleQuoted", value }] })

/** Returns the name of a simple command that is written plainly; undefined for `$cmd` and the like. */
export const nameOf = (command: CommandNode): string | undefined => {
  if (command.type !== "SimpleCommand" || command.name?.parts.length !== 1) return undefined
  const part = command.name.parts[0]
  return part?.type === "Literal" ? part.value : undefined
}

/** Visits every node below a value, children first. `visit` may change a node in place. */
export const walk = (value: unknown, visit: (node: Record<string, unknown>) => void): void => {
  if (Array.isArray(value)) {
    for (const item of value) walk(item, visit)
    return
  }
  if (typeof value !== "object" || value === null) return
  const node = value as Record<string, unknown>
  for (const key in node) walk(node[key], visit)
  if (typeof node["type"] === "string") visit(node)
}

/** Replaces the matching expansions by a text. */
export const replaceExpansions = (
  value: unknown,
  matches: (node: Extract<WordPart, { type: "ParameterExpansion" }>) => boolean,
  text: string
): void =>
  walk(value, (node) => {
    if (!Array.isArray(node["parts"])) return
    const type = node["type"] === "DoubleQuoted" ? "Literal" : "SingleQuoted"
    node["parts"] = (node["parts"] as Array<WordPart>).map((part) =>
      part.type === "ParameterExpansion" && matches(part) ? { type, value: text } : part
    )
  })

/**
 * Returns true when a command runs to find the value. With `surely` a command within a parameter expansion does
 * not count, since it may not run.
 */
export const hasSubstitution = (value: unknown, surely?: "surely"): boolean => {
  if (typeof value !== "object" || value === null) return false
  const { type } = value as { type?: unknown }
  if (type === "CommandSubstitution") return true
  // `${x?...}` ends the shell, so its command sets no status.
  if (type === "ErrorIfUnset") return false
  if (surely !== undefined && type === "ParameterExpansion") return false
  return Object.values(value).some((one) => hasSubstitution(one, surely))
}

/** Turns a node into another one, in place. */
export const replaceNode = (node: Record<string, unknown>, other: object): void => {
  for (const key in node) delete node[key]
  Object.assign(node, other)
}
