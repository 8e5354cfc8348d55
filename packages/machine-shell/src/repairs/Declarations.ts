/**
 * Rewrites `local files=($(ls))` and `declare -A lr=([small]="1e-3 x")`: behind such a word the interpreter reads an
 * array from a text that lacks half of it. So the name is declared first and then assigned, as the script has it. No
 * array is read-only: a background job gets arrays by assignment, and the interpreter's jobs share the read-only
 * variables.
 */
import { parse } from "just-bash"
import { group, hasSubstitution, nameOf, statement, statementsOf, walk } from "../core/Syntax.ts"
import type { CommandNode, ScriptNode, SimpleCommandNode, StatementNode, WordNode } from "../core/Syntax.ts"

const DECLARING: ReadonlySet<string | undefined> = new Set(["local", "declare", "typeset", "readonly"])

/** Characters that are parsed again: an array parses the rest of its statement. Bounds the work on a hostile script. */
const MAX_PARSED = 1_000_000

export const rewriteDeclarations = (script: ScriptNode): void => {
  let room = MAX_PARSED
  const arrays = new Set<string>()
  walk(script, (node) => {
    if (node["type"] !== "Assignment") return
    const [name = "", ...subscript] = String(node["name"]).split("[")
    if (Array.isArray(node["array"]) || subscript.length > 0) arrays.add(name)
  })
  walk(script, (node) => {
    if (node["type"] !== "Statement") return
    const { pipelines, sourceText = "" } = node as unknown as StatementNode
    let from = 0
    const assignmentOf = (name: string): StatementNode | undefined => {
      const found = new RegExp(`(?<=\\s)${name}\\+?=\\(`, "g")
      found.lastIndex = from
      const at = found.exec(sourceText)?.index
      if (at === undefined || (room -= sourceText.length - at) < 0) return undefined
      from = at + name.length
      return assignmentAt(sourceText.slice(at), name)
    }
    for (const pipeline of pipelines)
      pipeline.commands = pipeline.commands.map((command) => splitDeclaration(command, assignmentOf, arrays) ?? command)
  })
}

const ARRAY = /^([A-Za-z_]\w*)\+?=\(/
const OPTION = /^[-+][A-Za-z]+$/
const textOf = ({ parts: [first] }: WordNode): string => (first?.type === "Literal" ? first.value : "")

const splitDeclaration = (
  command: CommandNode,
  assignmentOf: (name: string) => StatementNode | undefined,
  arrays: ReadonlySet<string>
): CommandNode | undefined => {
  const keyword = nameOf(command)
  if (command.type !== "SimpleCommand" || !DECLARING.has(keyword)) return undefined
  const options = command.args.map(textOf).filter((text) => OPTION.test(text))
  const isAssociative = options.some((text) => text.includes("A"))
  // `readonly` declares no local variable, and the interpreter's `local -A` would declare a variable of the whole
  // script.
  const word = keyword === "readonly" ? "declare -g" : isAssociative ? "declare" : keyword!
  const names = command.args.flatMap((arg) => ARRAY.exec(textOf(arg))?.[1] ?? [])
  const hasArrayName = command.args.some((arg) => arrays.has(textOf(arg)))
  if (names.length === 0 && keyword === "local" && options.some((text) => text.includes("i")))
    return declareIntegers(command)
  if (names.length === 0 && keyword === "local") return { ...command, name: literal(word) }
  if (names.length === 0 && !hasArrayName) return undefined
  const assignments = names.map(assignmentOf).filter((one) => one !== undefined)
  if (assignments.length < names.length) return undefined
  const kept = options.map((text) => text.replace("r", "")).filter((text) => text.length > 1)
  const others = command.args.filter((arg) => !OPTION.test(textOf(arg)) && !ARRAY.test(textOf(arg)))
  const declaration = (source: string, args: ReadonlyArray<WordNode>) =>
    statementsOf(`${word} ${source} ${kept.join(" ")}`).map((one) => {
      const made = one.pipelines[0]!.commands[0] as SimpleCommandNode
      return statement({ ...made, args: [...made.args, ...args], redirections: command.redirections })
    })
  return group([
    ...(others.length === 0 ? [] : declaration("", others)),
    ...(names.length === 0 ? [] : declaration(isAssociative ? "" : "-a", names.map(literal))),
    ...assignments
  ])
}

/** Rewrites `local -i n=3+4`: only `declare` evaluates the value, and it keeps a name local that is local already. */
const declareIntegers = (command: SimpleCommandNode): CommandNode => {
  const names = command.args.flatMap((arg) => /^[A-Za-z_]\w*/.exec(textOf(arg)) ?? [])
  return group([...statementsOf(`local ${names.join(" ")}`), statement({ ...command, name: literal("declare") })])
}

const literal = (value: string): WordNode => ({ type: "Word", parts: [{ type: "Literal", value }] })

/**
 * Returns the assignment at the start of the text; undefined when it does not parse, or reads the former value of the
 * name, as in `local a=("${a[@]}")`.
 */
const assignmentAt = (text: string, name: string): StatementNode | undefined => {
  try {
    const command = parse(text).statements[0]?.pipelines[0]?.commands[0]
    if (command?.type !== "SimpleCommand" || command.assignments[0]?.name !== name) return undefined
    const [assignment] = command.assignments
    if (new RegExp(`"parameter":"${name}\\b`).test(JSON.stringify(assignment.array))) return undefined
    const made = statement({ type: "SimpleCommand", name: null, args: [], assignments: [assignment], redirections: [] })
    // The declaration succeeds, whatever the status of a command in its values.
    if (!hasSubstitution(assignment)) return made
    const [succeeded] = statementsOf("((1))")
    return { ...made, pipelines: [...made.pipelines, ...succeeded!.pipelines], operators: ["||"] }
  } catch {
    return undefined
  }
}
