/**
 * Rewrites everything that would read the host's time or randomness, or that the interpreter lacks, so that a script
 * gives the same result each time: `$RANDOM`, `$SECONDS`, `$EPOCHSECONDS`, `time`, `wait`, `$!`, `exec command`,
 * `"${command[@]}"`. Applies to every part of every script.
 */
import { replaceNode, group, MARK, nameOf, statement, statementsOf, walk, word } from "./Syntax.ts"
import type { CommandNode, PipelineNode, ScriptNode, SimpleCommandNode, WordNode, WordPart } from "./Syntax.ts"

/** Replaces `$!`, which is always 0 in the interpreter. */
export const LAST_JOB = "SHELL_LAST_JOB"

export const rewriteHostReads = (script: ScriptNode): void =>
  walk(script, (node) => {
    switch (node["type"]) {
      case "ParameterExpansion":
        if (node["parameter"] === "!" && node["operation"] === null) node["parameter"] = LAST_JOB
        else if (isHostVariable(node["parameter"]) && node["operation"] === null) {
          const body = { type: "Script", statements: statementsOf(readerOf(node["parameter"])) }
          replaceNode(node, { type: "CommandSubstitution", body, legacy: false })
        }
        break
      case "ArithVariable":
        if (isHostVariable(node["name"]))
          replaceNode(node, { type: "ArithCommandSubst", command: readerOf(node["name"]) })
        break
      case "ArithmeticExpression":
        // The interpreter evaluates a text with a `$name` again, in place of the rewritten tree.
        if (/RANDOM|SECONDS/.test(String(node["originalText"]))) delete node["originalText"]
        break
      case "CommandSubstitution":
      case "Subshell":
        walk(node["body"], markSubshellTrap)
        break
      case "SimpleCommand":
        if (nameOf(node as unknown as CommandNode) === "wait") node["name"] = commandWord("wait")
        rewritePathCall(node as unknown as SimpleCommandNode)
        splitCommandName(node as unknown as SimpleCommandNode)
        break
      case "Pipeline": {
        const pipeline = node as unknown as PipelineNode
        const [first] = pipeline.commands
        // Behind `!` the interpreter parses `time` as the name of a command.
        if (pipeline.negated && first?.type === "SimpleCommand" && nameOf(first) === "time" && first.args.length > 0) {
          pipeline.timed = true
          first.name = first.args.shift()!
          rewritePathCall(first)
          splitCommandName(first)
        }
        pipeline.commands = pipeline.commands.map(rewriteExec)
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

/** Marks the traps of a subshell, since they are not the script's. */
const markSubshellTrap = (node: Record<string, unknown>): void => {
  const command = node as unknown as CommandNode
  if (command.type !== "SimpleCommand" || nameOf(command) !== "trap") return
  const [first] = command.args[0]?.parts ?? []
  if (first?.type !== "SingleQuoted" || first.value !== MARK) command.args.unshift(word(MARK))
}

const HOST_VARIABLES: ReadonlySet<unknown> = new Set(["RANDOM", "SECONDS", "EPOCHSECONDS", "EPOCHREALTIME"])
const isHostVariable = (name: unknown): name is string => HOST_VARIABLES.has(name)
const readerOf = (name: string): string => MARK + name.toLowerCase()
const commandWord = (name: string): WordNode => ({ type: "Word", parts: [{ type: "Literal", value: MARK + name }] })

/**
 * The argument that makes `bash` run a file by its path, rewritten like any other script. The interpreter alone would
 * run the file as it is written.
 */
export const BY_PATH = `${MARK}path`
const rewritePathCall = (command: SimpleCommandNode): void => {
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

/**
 * Moves an expanded command name into the arguments, behind an empty name. The interpreter expands a name to one word;
 * where the name is empty, it takes the first of the split words as the name.
 */
const splitCommandName = (command: SimpleCommandNode): void => {
  if (command.name?.parts.some(mayBeSeveralWords) !== true) return
  command.args.unshift(command.name)
  command.name = { type: "Word", parts: [structuredClone(EMPTY_NAME)] }
}
const mayBeSeveralWords = (part: WordPart): boolean =>
  part.type === "ParameterExpansion" ||
  part.type === "CommandSubstitution" ||
  (part.type === "DoubleQuoted" && part.parts.some(isList))
const isList = (part: WordPart): boolean => part.type === "ParameterExpansion" && /^@$|\[@\]$/.test(part.parameter)
const EMPTY_NAME: WordPart = {
  type: "ParameterExpansion",
  parameter: "SHELL_NOTHING",
  operation: { type: "DefaultValue", word: { type: "Word", parts: [] }, checkEmpty: false }
}

/** Saves the variables before each `exit` of the script itself: a handler of the EXIT trap needs them. */
export const saveVariablesBeforeExit = (script: ScriptNode): void =>
  walk(script, (node) => {
    if (node["type"] !== "Pipeline") return
    const pipeline = node as unknown as PipelineNode
    pipeline.commands = pipeline.commands.map((command) =>
      nameOf(command) === "exit" ? group([...statementsOf(`${MARK}leave $? && ((1))`), statement(command)]) : command
    )
  })

/** Ends the shell behind `exec command`. The interpreter alone would run the commands behind it. */
const rewriteExec = (command: CommandNode): CommandNode => {
  if (command.type !== "SimpleCommand" || nameOf(command) !== "exec") return command
  const [name, ...args] = command.args
  if (name === undefined) return command
  const replacing = { ...command, name, args }
  rewritePathCall(replacing)
  return group([statement(replacing), ...statementsOf("exit")])
}
