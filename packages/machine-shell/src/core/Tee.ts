/**
 * Rewrites `exec > >(tee FILE) 2>&1`: from there on the console copies its output to the file, at the time of each
 * write. The command of `command 2>&1 | tee FILE` is copied in the same way. With any other program in `exec > >(...)`
 * the rest of the script becomes a subshell with this redirection, and writes at its end.
 */
import { group, MARK, nameOf, statement, walk, word } from "./Syntax.ts"
import type { CommandNode, PipelineNode, Redirection, ScriptNode, SimpleCommandNode } from "./Syntax.ts"

/**
 * The command that copies the console to the files of its arguments from now on. `BEGIN` starts a copy within the
 * current one, and `END` ends it.
 */
export const TEE = `${MARK}tee`
export const [BEGIN, END] = [`${MARK}begin`, `${MARK}end`]

/** Returns true for `command 2>&1 | tee FILE`, where all output goes to files and to the output of `tee`. */
export const isTeePipeline = ({ commands, pipeStderr }: PipelineNode): boolean => {
  const [first, tee] = commands
  if (commands.length !== 2 || tee?.type !== "SimpleCommand" || nameOf(tee) !== "tee") return false
  if (first?.type === "FunctionDef" || (first?.type === "SimpleCommand" && first.name === null)) return false
  const isPlain = tee.redirections.length === 0 && tee.assignments.length === 0 && tee.args.every(isFile)
  const { redirections } = first as SimpleCommandNode
  const joined = pipeStderr?.[0] === true || redirections.some(isJoining)
  return isPlain && joined && redirections.every((one) => isJoining(one) || one.operator.startsWith("<"))
}

/**
 * Returns the commands of such a pipeline once its first command writes to the console itself. In the place of `tee`
 * stands the end of the copy.
 */
export const copyCommands = ({ commands: [first, tee] }: PipelineNode): Array<CommandNode> => {
  const { args } = tee as SimpleCommandNode
  return [group([statement(teeCommand([word(BEGIN), ...args])), statement(first!)]), teeCommand([word(END)])]
}

const teeCommand = (args: SimpleCommandNode["args"]): SimpleCommandNode => ({
  type: "SimpleCommand",
  name: { type: "Word", parts: [{ type: "Literal", value: TEE }] },
  args,
  assignments: [],
  redirections: []
})

/** Matches `2>&1`. */
const isJoining = ({ fd, operator, target }: Redirection): boolean => {
  const part = target.type === "Word" ? target.parts[0] : undefined
  return fd === 2 && operator === ">&" && part?.type === "Literal" && part.value === "1"
}

/** True for a word that names a file, or `/dev/null`: no other device, no other program. */
const isFile = ({ parts }: SimpleCommandNode["args"][number]): boolean =>
  parts.every(
    (part) => part.type !== "ProcessSubstitution" && !(part.type === "Literal" && /^\/dev\/(?!null$)/.test(part.value))
  )

export const rewriteTee = (script: ScriptNode): void => {
  walk(script, (node) => {
    const command = node as unknown as CommandNode
    if (!isRedirecting(command)) return
    const tee = teeOf(command.redirections)
    if (tee === undefined) return
    command.name = { type: "Word", parts: [{ type: "Literal", value: TEE }] }
    command.args = tee.args
    command.redirections = []
  })
  const at = script.statements.findIndex(({ pipelines }) => {
    const command = pipelines[0]?.commands[0]
    return pipelines.length === 1 && command !== undefined && isRedirecting(command)
  })
  if (at < 0) return
  const [{ redirections }] = script.statements[at]!.pipelines[0]!.commands as [SimpleCommandNode]
  const rest = script.statements.slice(at + 1)
  // A subshell, so that an `exit` does not end the program that reads the output.
  const subshell: CommandNode = { type: "Subshell", body: rest, redirections }
  if (rest.length > 0) script.statements.splice(at, rest.length + 1, statement(subshell))
}

const isRedirecting = (command: CommandNode): command is SimpleCommandNode =>
  command.type === "SimpleCommand" &&
  nameOf(command) === "exec" &&
  command.args.length === 0 &&
  command.redirections.some((one) => programOf(one) !== undefined)

/** Returns the script within `>(...)`. */
const programOf = ({ target }: Redirection): ScriptNode | undefined => {
  const part = target.type === "Word" ? target.parts[0] : undefined
  return part?.type === "ProcessSubstitution" && part.direction === "output" ? part.body : undefined
}

const teeOf = ([first, second, third]: ReadonlyArray<Redirection>): SimpleCommandNode | undefined => {
  const joined = second === undefined ? first?.operator === "&>" : second.fd === 2 && second.operator === ">&"
  if (first === undefined || (first.fd !== null && first.fd !== 1) || !joined || third !== undefined) return undefined
  const program = programOf(first)?.statements
  const [pipeline] = program?.length === 1 ? program[0]!.pipelines : []
  const command = pipeline?.commands.length === 1 ? pipeline.commands[0]! : undefined
  const isTee = command?.type === "SimpleCommand" && nameOf(command) === "tee" && command.redirections.length === 0
  return isTee ? command : undefined
}
