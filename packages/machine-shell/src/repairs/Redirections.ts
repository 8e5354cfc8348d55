/**
 * Repairs `> runs/log` where `runs` is missing: the command fails and the script goes on, as in bash. The interpreter
 * would end the script, except for a file descriptor above 2. So such a file is opened on another descriptor first, as
 * a probe. A target that runs a command has no probe, since the command must not run twice.
 *
 * Repairs `main > log` where `main` exits: the interpreter loses the redirection of a command that ends the script, but
 * not the redirection of a group.
 */
import { group, hasSubstitution, nameOf, statement, statementsOf, walk } from "../core/Syntax.ts"
import type { CommandNode, PipelineNode, Redirection, ScriptNode, SimpleCommandNode } from "../core/Syntax.ts"

const PROBE_FD = 62
const WRITES = /^&?>>?$|^>\|$/

export const groupRedirectedCalls = (script: ScriptNode): void => {
  const mayEnd = new Set<string | undefined>([undefined, "eval", "source", "."])
  walk(script, (node) => {
    if (node["type"] === "FunctionDef") mayEnd.add(String(node["name"]))
  })
  walk(script, (node) => {
    if (node["type"] !== "Pipeline") return
    const pipeline = node as unknown as PipelineNode
    pipeline.commands = pipeline.commands.map((command): CommandNode => {
      if (command.type !== "SimpleCommand" || command.redirections.length === 0) return command
      if (command.name === null) return hasSubstitution(command.assignments) ? separateRedirection(command) : command
      if (!mayEnd.has(nameOf(command))) return command
      if (!command.redirections.some(({ operator }) => WRITES.test(operator))) return command
      return group([statement({ ...command, redirections: [] })], command.redirections)
    })
  })
}

/**
 * Splits `x=$(cmd) 2> log`: the redirection does not apply to `cmd`, and the interpreter takes its status for that of
 * `cmd`.
 */
const separateRedirection = (command: SimpleCommandNode): CommandNode => {
  const [redirected] = statementsOf(":")
  const [opening] = redirected!.pipelines[0]!.commands
  return group([
    statement({ ...(opening as SimpleCommandNode), redirections: command.redirections }),
    statement({ ...command, redirections: [] })
  ])
}

export const probeRedirections = (script: ScriptNode): void =>
  walk(script, (node) => {
    const redirections = node["redirections"]
    if (!Array.isArray(redirections)) return
    node["redirections"] = redirections.flatMap((one: Redirection, at) => {
      if (!mayFail(one) || redirections[at - 1]?.fd === PROBE_FD) return [one]
      // `set -o noclobber` checks the probe. The file exists behind it, so the redirection itself must not be checked.
      const both = one.operator.startsWith("&")
      if (one.operator.endsWith(">>")) return [{ ...one, fd: PROBE_FD, operator: ">>" }, one]
      return [
        { ...one, fd: PROBE_FD, operator: both ? ">" : one.operator },
        { ...one, operator: both ? "&>>" : ">|" }
      ]
    })
  })

const mayFail = ({ fd, fdVariable, operator, target }: Redirection): boolean => {
  if (target.type !== "Word" || !WRITES.test(operator) || (fd ?? 0) > 2 || fdVariable !== undefined) return false
  const [first] = target.parts
  const plain = target.parts.length === 1 && first?.type === "Literal" ? first.value : undefined
  if (plain !== undefined) return plain.includes("/") && !plain.startsWith("/dev/")
  return !hasSubstitution(target) && !/"(ProcessSubstitution|ArithmeticExpansion)"/.test(JSON.stringify(target))
}
