/**
 * Rewrites what would ask the host for time or chance, or what the interpreter lacks, so that one script always does the
 * same: `$RANDOM`, `$SECONDS`, `$EPOCHSECONDS`, `time`, `wait`, `$!`, `exec command`, `"${command[@]}"`. It applies to every part of every
 * script.
 */
import { become, group, MARK, nameOf, statement, statementsOf, walk, word } from "./Syntax.ts"
import type { CommandNode, PipelineNode, ScriptNode, SimpleCommandNode, WordNode, WordPart } from "./Syntax.ts"

/** The variable that stands for `$!`: the interpreter's own is always 0. */
export const LAST_JOB = "SHELL_LAST_JOB"

export const determined = (script: ScriptNode): void =>
  walk(script, (node) => {
    switch (node["type"]) {
      case "ParameterExpansion":
        if (node["parameter"] === "!" && node["operation"] === null) node["parameter"] = LAST_JOB
        else if (isHostVariable(node["parameter"]) && node["operation"] === null) {
          const body = { type: "Script", statements: statementsOf(reader(node["parameter"])) }
          become(node, { type: "CommandSubstitution", body, legacy: false })
        }
        break
      case "ArithVariable":
        if (isHostVariable(node["name"])) become(node, { type: "ArithCommandSubst", command: reader(node["name"]) })
        break
      case "ArithmeticExpression":
        // The interpreter reads the text again where a `$name` is in it.
        if (/RANDOM|SECONDS/.test(String(node["originalText"]))) delete node["originalText"]
        break
      case "CommandSubstitution":
      case "Subshell":
        walk(node["body"], inSubshell)
        break
      case "SimpleCommand":
        if (nameOf(node as unknown as CommandNode) === "wait") node["name"] = commandWord("wait")
        byPath(node as unknown as SimpleCommandNode)
        named(node as unknown as SimpleCommandNode)
        break
      case "Pipeline": {
        const pipeline = node as unknown as PipelineNode
        const [first] = pipeline.commands
        // Behind `!` the interpreter reads `time` as the name of a command.
        if (pipeline.negated && first?.type === "SimpleCommand" && nameOf(first) === "time" && first.args.length > 0) {
          pipeline.timed = true
          first.name = first.args.shift()!
          byPath(first)
          named(first)
        }
        pipeline.commands = pipeline.commands.map(replacingExec)
        if (pipeline.timed === true) {
          const inner = { ...pipeline, timed: false, negated: false }
          const timed = statementsOf(`${MARK}tic\n:\n${MARK}toc $?`)
          timed[1]!.pipelines = [inner]
          pipeline.commands = [group(timed)]
          pipeline.timed = false
        }
      }
    }
  })

/** What a subshell traps is not the script's. */
const inSubshell = (node: Record<string, unknown>): void => {
  const command = node as unknown as CommandNode
  if (command.type !== "SimpleCommand" || nameOf(command) !== "trap") return
  const [first] = command.args[0]?.parts ?? []
  if (first?.type !== "SingleQuoted" || first.value !== MARK) command.args.unshift(word(MARK))
}

const HOST_VARIABLES: ReadonlySet<unknown> = new Set(["RANDOM", "SECONDS", "EPOCHSECONDS", "EPOCHREALTIME"])
const isHostVariable = (name: unknown): name is string => HOST_VARIABLES.has(name)
const reader = (name: string): string => MARK + name.toLowerCase()
const commandWord = (name: string): WordNode => ({ type: "Word", parts: [{ type: "Literal", value: MARK + name }] })

/** Runs a file by its path as a script like any other: the interpreter alone would run it as it is written. */
export const BY_PATH = `${MARK}path`
const byPath = (command: SimpleCommandNode): void => {
  const [first] = command.name?.parts ?? []
  if (command.name?.parts.some(hasSlash) !== true) return
  if (first?.type === "Literal" && /^\/(usr\/)?bin\//.test(first.value)) return
  command.args.unshift(word(BY_PATH), command.name)
  command.name = { type: "Word", parts: [{ type: "Literal", value: "bash" }] }
}
const hasSlash = (part: WordPart): boolean =>
  part.type === "DoubleQuoted"
    ? part.parts.some(hasSlash)
    : (part.type === "Literal" || part.type === "SingleQuoted") && part.value.includes("/")

/** The interpreter reads the name of a command as one word. Where it is empty, the words behind it begin with the name. */
const named = (command: SimpleCommandNode): void => {
  if (command.name?.parts.some(mayBeWords) !== true) return
  command.args.unshift(command.name)
  command.name = { type: "Word", parts: [structuredClone(NOTHING)] }
}
const mayBeWords = (part: WordPart): boolean =>
  part.type === "ParameterExpansion" ||
  part.type === "CommandSubstitution" ||
  (part.type === "DoubleQuoted" && part.parts.some(isList))
const isList = (part: WordPart): boolean => part.type === "ParameterExpansion" && /^@$|\[@\]$/.test(part.parameter)
const NOTHING: WordPart = {
  type: "ParameterExpansion",
  parameter: "SHELL_NOTHING",
  operation: { type: "DefaultValue", word: { type: "Word", parts: [] }, checkEmpty: false }
}

/** Before an `exit` of the script itself its variables are kept: a handler of the EXIT trap needs them. */
export const leaving = (script: ScriptNode): void =>
  walk(script, (node) => {
    if (node["type"] !== "Pipeline") return
    const pipeline = node as unknown as PipelineNode
    pipeline.commands = pipeline.commands.map((command) =>
      nameOf(command) === "exit" ? group([...statementsOf(`${MARK}leave $? && ((1))`), statement(command)]) : command
    )
  })

/** `exec command` ends the shell with the command; the interpreter alone would go on behind it. */
const replacingExec = (command: CommandNode): CommandNode => {
  if (command.type !== "SimpleCommand" || nameOf(command) !== "exec") return command
  const [name, ...args] = command.args
  if (name === undefined) return command
  const replacing = { ...command, name, args }
  byPath(replacing)
  return group([statement(replacing), ...statementsOf("exit")])
}
