/** The syntax tree of the shell, as far as scripts are rewritten here: names, and walking it without knowing every node. */
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

/** Begins names that only rewritten scripts use: no shell script can write it by accident. */
export const MARK = "\u0001"

/** The statements of a script that is written out here. */
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

/** The name of a simple command when it is written plainly; undefined for `$cmd` and the like. */
export const nameOf = (command: CommandNode): string | undefined => {
  if (command.type !== "SimpleCommand" || command.name?.parts.length !== 1) return undefined
  const part = command.name.parts[0]
  return part?.type === "Literal" ? part.value : undefined
}

/** Visits every node below a value, children first; `visit` may change a node in place. */
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

/** Puts a text in the place of expansions. */
export const spelled = (
  value: unknown,
  isMeant: (node: Extract<WordPart, { type: "ParameterExpansion" }>) => boolean,
  text: string
): void =>
  walk(value, (node) => {
    if (!Array.isArray(node["parts"])) return
    const type = node["type"] === "DoubleQuoted" ? "Literal" : "SingleQuoted"
    node["parts"] = (node["parts"] as Array<WordPart>).map((part) =>
      part.type === "ParameterExpansion" && isMeant(part) ? { type, value: text } : part
    )
  })

/** Whether a command is run to find the value; `surely`: not only where a parameter is unset. */
export const hasSubstitution = (value: unknown, surely?: "surely"): boolean => {
  if (typeof value !== "object" || value === null) return false
  const { type } = value as { type?: unknown }
  if (type === "CommandSubstitution") return true
  // What ends the shell gives no status.
  if (type === "ErrorIfUnset") return false
  if (surely !== undefined && type === "ParameterExpansion") return false
  return Object.values(value).some((one) => hasSubstitution(one, surely))
}

/** Turns a node into another one, in place. */
export const become = (node: Record<string, unknown>, other: object): void => {
  for (const key in node) delete node[key]
  Object.assign(node, other)
}
