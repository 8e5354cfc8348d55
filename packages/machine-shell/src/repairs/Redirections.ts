/**
 * `> runs/log` where there is no `runs`: the command fails, as in bash, and the script goes on. The interpreter would end
 * the script; but not where the file descriptor is not one of the first three. So such a file is opened on another
 * one first. A target that runs a command is left as it is: it must not run twice.
 *
 * `main > log` where `main` exits: the interpreter loses the redirection of a command that ends the script, but not that
 * of a group.
 */
import { group, hasSubstitution, nameOf, statement, statementsOf, walk } from "../core/Syntax.ts"
import type { CommandNode, PipelineNode, Redirection, ScriptNode, SimpleCommandNode } from "../core/Syntax.ts"

const PROBE = 62
const WRITES = /^&?>>?$|^>\|$/

export const grouped = (script: ScriptNode): void => {
  const ending = new Set<string | undefined>([undefined, "eval", "source", "."])
  walk(script, (node) => {
    if (node["type"] === "FunctionDef") ending.add(String(node["name"]))
  })
  walk(script, (node) => {
    if (node["type"] !== "Pipeline") return
    const pipeline = node as unknown as PipelineNode
    pipeline.commands = pipeline.commands.map((command): CommandNode => {
      if (command.type !== "SimpleCommand" || command.redirections.length === 0) return command
      if (command.name === null) return hasSubstitution(command.assignments) ? parted(command) : command
      if (!ending.has(nameOf(command))) return command
      if (!command.redirections.some(({ operator }) => WRITES.test(operator))) return command
      return group([statement({ ...command, redirections: [] })], command.redirections)
    })
  })
}

/** `x=$(cmd) 2> log`: the redirection is not that of what is substituted, and the interpreter takes its status for the other's. */
const parted = (command: SimpleCommandNode): CommandNode => {
  const [redirected] = statementsOf(":")
  const [opening] = redirected!.pipelines[0]!.commands
  return group([
    statement({ ...(opening as SimpleCommandNode), redirections: command.redirections }),
    statement({ ...command, redirections: [] })
  ])
}

export const probed = (script: ScriptNode): void =>
  walk(script, (node) => {
    const redirections = node["redirections"]
    if (!Array.isArray(redirections)) return
    node["redirections"] = redirections.flatMap((one: Redirection, at) => {
      if (!mayFail(one) || redirections[at - 1]?.fd === PROBE) return [one]
      // `set -o noclobber` is asked of the first one, and by then the file is there.
      const both = one.operator.startsWith("&")
      if (one.operator.endsWith(">>")) return [{ ...one, fd: PROBE, operator: ">>" }, one]
      return [
        { ...one, fd: PROBE, operator: both ? ">" : one.operator },
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
