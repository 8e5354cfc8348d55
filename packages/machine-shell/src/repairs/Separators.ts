/**
 * Splits `IFS=, parts=($line)` into a statement for each assignment: the interpreter splits words by the former IFS.
 * Also joins `"${parts[*]}"` by IFS where it is assigned or read by `<<<`. There the interpreter joins by blanks, but
 * not in the output of a command.
 */
import { group, statement, statementsOf, walk } from "../core/Syntax.ts"
import type { CommandNode, PipelineNode, ScriptNode, SimpleCommandNode, WordNode } from "../core/Syntax.ts"

const JOINED = /"parameter":"\w+\[\*\]","operation":null/

export const rewriteSeparators = (script: ScriptNode): void => {
  let isSet = false
  walk(script, (node) => {
    isSet ||= node["type"] === "Assignment" && node["name"] === "IFS"
  })
  if (!isSet) return
  walk(script, (node) => {
    if (node["type"] === "Assignment" && node["value"] !== null) joinBySeparator(node["value"] as WordNode)
    else if (node["operator"] === "<<<") joinBySeparator(node["target"] as WordNode)
    else if (node["type"] === "Pipeline") {
      const pipeline = node as unknown as PipelineNode
      pipeline.commands = pipeline.commands.map(splitAssignments)
    }
  })
}

const joinBySeparator = (word: WordNode): void => {
  if (!word.parts.some((part) => part.type === "DoubleQuoted" && JOINED.test(JSON.stringify(part)))) return
  const statements = statementsOf("printf %s x")
  const printf = statements[0]!.pipelines[0]!.commands[0] as SimpleCommandNode
  printf.args[1] = { type: "Word", parts: word.parts }
  const body: ScriptNode = { type: "Script", statements }
  word.parts = [{ type: "DoubleQuoted", parts: [{ type: "CommandSubstitution", body, legacy: false }] }]
}

const splitAssignments = (command: CommandNode): CommandNode => {
  if (command.type !== "SimpleCommand" || command.name !== null || command.redirections.length > 0) return command
  const [first, ...others] = command.assignments
  if (first?.name !== "IFS" || others.length === 0) return command
  return group(command.assignments.map((one) => statement({ ...command, assignments: [one] })))
}
