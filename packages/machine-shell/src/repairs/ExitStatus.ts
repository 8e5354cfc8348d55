/**
 * Rewrites commands whose exit status in the interpreter is not bash's, so that `$?` and `set -e` work as in bash. The
 * interpreter lets an assignment keep the status of the command before it. It suspends `set -e` for a pipeline in front
 * of `||` or `&&`, behind `!` or in `$(...)`, but not for the commands within it; for conditions it does. A script
 * without `set -e` gets only the first repair.
 */
import { replaceNode, group, hasSubstitution, MARK, nameOf, statement, statementsOf, walk } from "../core/Syntax.ts"
import type {
  CommandNode,
  IfNode,
  PipelineNode,
  Redirection,
  ScriptNode,
  SimpleCommandNode,
  StatementNode
} from "../core/Syntax.ts"

/** The command that exits with the status of its argument. */
export const STATUS = `${MARK}status`

/** Commands that may define functions which the script does not show. */
export const SOURCING: ReadonlySet<string> = new Set([".", "source", "eval"])
const ERREXIT = /"-[a-zA-Z]*e[a-zA-Z]*"|"errexit"/
const NEVER_FUNCTIONS: ReadonlySet<string> = new Set(["test", "true", "false", ":", "grep", "echo", "cd", "mkdir"])

export const fixExitStatus = (script: ScriptNode): void => {
  const suspended = new Set<unknown>()
  const functions = new Set<string>()
  let hasSourcing = false
  let usesErrexit = false
  walk(script, (node) => {
    const command = node as unknown as CommandNode
    if (command.type === "FunctionDef") functions.add(command.name)
    else if (command.type === "SimpleCommand") {
      const name = nameOf(command)
      hasSourcing ||= name !== undefined && SOURCING.has(name)
      usesErrexit ||= name === "set" && ERREXIT.test(JSON.stringify(command.args))
    } else for (const one of conditionsOf(command)) suspended.add(one)
  })
  /**
   * True for a command that runs no other statement: no function, no compound command but those that this pass added.
   */
  const isPlain = (command: CommandNode): boolean => {
    if (command.type === "SimpleCommand") {
      const name = nameOf(command)
      if (command.name === null) return !hasSubstitution(command.assignments)
      // The interpreter parses `[` as a pattern.
      if (name === undefined) return command.name.parts[0]?.type === "Glob" || (functions.size === 0 && !hasSourcing)
      return !functions.has(name) && (!hasSourcing || NEVER_FUNCTIONS.has(name))
    }
    if (command.type === "If") return [command.clauses[0]!.body, command.elseBody].some(isStatus)
    return command.type === "ArithmeticCommand" || command.type === "ConditionalCommand"
  }
  walk(script, (node) => {
    if (node["type"] === "SimpleCommand") fixAssignmentStatus(node as unknown as SimpleCommandNode)
    if (!usesErrexit) return
    switch (node["type"]) {
      case "CommandSubstitution": {
        const { statements } = node["body"] as ScriptNode
        const ends = statements.length < 2 && statements.every((one) => one.pipelines.length === 1)
        if (!ends || !statements.every((one) => one.pipelines[0]!.commands.every(isPlain)))
          node["body"] = {
            type: "Script",
            statements: [statement(conditional(statements, statementsOf(`${STATUS} $?`)))]
          }
        break
      }
      case "FunctionDef": {
        const { body } = node as unknown as { body: CommandNode }
        // `set -e` ignores the failure of `a && b` at the end of the function, but not the failure of the function's
        // call.
        if (body.type === "Group" && body.body[body.body.length - 1]!.pipelines.length > 1)
          body.body.push(...statementsOf("return $?"))
        break
      }
      case "Statement": {
        const one = node as unknown as StatementNode
        if (suspended.has(one)) break
        const last = one.pipelines.length - 1
        const isIgnoring = !one.pipelines.slice(0, last).every(({ commands }) => commands.every(isPlain))
        one.pipelines = one.pipelines.map((pipeline, at) => {
          // `set -e` ignores the failures of the pipelines before the last one, but not the failure of the last one.
          if (!pipeline.negated && at === last)
            return isIgnoring ? pipelineOf(group([statementOf(pipeline)])) : pipeline
          if (pipeline.commands.every(isPlain)) return pipeline
          const condition = [statementOf({ ...pipeline, negated: false })]
          return pipelineOf(
            pipeline.negated
              ? conditional(condition, statementsOf("((1))"), ignoredStatus("1"))
              : conditional(condition, ignoredStatus("$?"))
          )
        })
      }
    }
  })
}

const conditionsOf = (command: CommandNode): ReadonlyArray<StatementNode> =>
  command.type === "If"
    ? command.clauses.flatMap((clause) => clause.condition)
    : command.type === "While" || command.type === "Until"
      ? command.condition
      : []

const conditional = (
  condition: Array<StatementNode>,
  elseBody: Array<StatementNode>,
  body: Array<StatementNode> = statementsOf("((1))")
): IfNode => ({ type: "If", clauses: [{ condition, body }], elseBody, redirections: [] })

/** Returns commands that end with a status which `set -e` ignores. */
const ignoredStatus = (status: string): Array<StatementNode> => statementsOf(`${STATUS} ${status} && ((1))`)

const isStatus = (statements: Array<StatementNode> | null): boolean => {
  const command = statements?.[0]?.pipelines[0]?.commands[0]
  return command !== undefined && nameOf(command) === STATUS
}

const pipelineOf = (command: CommandNode): PipelineNode => statement(command).pipelines[0]!
const statementOf = (pipeline: PipelineNode): StatementNode => ({
  ...statement(pipeline.commands[0]!),
  pipelines: [pipeline]
})

/**
 * Makes an assignment that runs no command succeed. In the interpreter an assignment with a redirection does. To close
 * an unused file descriptor has no other effect, and costs nothing.
 */
const fixAssignmentStatus = (command: SimpleCommandNode): void => {
  if (command.name !== null || command.assignments.length === 0 || command.redirections.length > 0) return
  if (!hasSubstitution(command.assignments)) {
    command.redirections.push(structuredClone(CLOSE_UNUSED))
    return
  }
  if (hasSubstitution(command.assignments, "surely") || readsStatus(command)) return
  replaceNode(command as never, group([...statementsOf("((1))"), statement({ ...command })]))
}

const CLOSE_UNUSED: Redirection = {
  type: "Redirection",
  fd: 63,
  operator: ">&",
  target: { type: "Word", parts: [{ type: "Literal", value: "-" }] }
}

const readsStatus = (command: SimpleCommandNode): boolean => {
  let found = false
  walk(command, (node) => {
    found ||= node["parameter"] === "?"
  })
  return found
}
