/**
 * Rewrites where the interpreter's exit statuses are not bash's, so that `$?` and `set -e` see what they see in bash. The
 * interpreter lets an assignment keep the status of the command before it; and it suspends `set -e` for a pipeline in
 * front of `||` or `&&`, behind `!` or in `$(...)`, but not for what runs within it; for conditions it does. A script
 * without `set -e` pays nothing for the latter.
 */
import { become, group, hasSubstitution, MARK, nameOf, statement, statementsOf, walk } from "../core/Syntax.ts"
import type {
  CommandNode,
  IfNode,
  PipelineNode,
  Redirection,
  ScriptNode,
  SimpleCommandNode,
  StatementNode
} from "../core/Syntax.ts"

/** Ends with the status that is its argument. */
export const STATUS = `${MARK}status`

/** With these a script gets functions that it does not define. */
export const SOURCING: ReadonlySet<string> = new Set([".", "source", "eval"])
const ERREXIT = /"-[a-zA-Z]*e[a-zA-Z]*"|"errexit"/
const NEVER_FUNCTIONS: ReadonlySet<string> = new Set(["test", "true", "false", ":", "grep", "echo", "cd", "mkdir"])

export const judged = (script: ScriptNode): void => {
  const suspended = new Set<unknown>()
  const functions = new Set<string>()
  let sourcing = false
  let exiting = false
  walk(script, (node) => {
    const command = node as unknown as CommandNode
    if (command.type === "FunctionDef") functions.add(command.name)
    else if (command.type === "SimpleCommand") {
      const name = nameOf(command)
      sourcing ||= name !== undefined && SOURCING.has(name)
      exiting ||= name === "set" && ERREXIT.test(JSON.stringify(command.args))
    } else for (const one of conditionsOf(command)) suspended.add(one)
  })
  /** What ends as a whole: neither a compound command nor a function. */
  const isPlain = (command: CommandNode): boolean => {
    if (command.type === "SimpleCommand") {
      const name = nameOf(command)
      if (command.name === null) return !hasSubstitution(command.assignments)
      // `[` is read as a pattern.
      if (name === undefined) return command.name.parts[0]?.type === "Glob" || (functions.size === 0 && !sourcing)
      return !functions.has(name) && (!sourcing || NEVER_FUNCTIONS.has(name))
    }
    if (command.type === "If") return [command.clauses[0]!.body, command.elseBody].some(isStatus)
    return command.type === "ArithmeticCommand" || command.type === "ConditionalCommand"
  }
  walk(script, (node) => {
    if (node["type"] === "SimpleCommand") assigned(node as unknown as SimpleCommandNode)
    if (!exiting) return
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
        // What `a && b` is forgiven at the end of the function, its caller is not.
        if (body.type === "Group" && body.body[body.body.length - 1]!.pipelines.length > 1)
          body.body.push(...statementsOf("return $?"))
        break
      }
      case "Statement": {
        const one = node as unknown as StatementNode
        if (suspended.has(one)) break
        const last = one.pipelines.length - 1
        const forgiving = !one.pipelines.slice(0, last).every(({ commands }) => commands.every(isPlain))
        one.pipelines = one.pipelines.map((pipeline, at) => {
          // What is forgiven those before it, the last one is not.
          if (!pipeline.negated && at === last) return forgiving ? pipelineOf(group([alone(pipeline)])) : pipeline
          if (pipeline.commands.every(isPlain)) return pipeline
          const condition = [alone({ ...pipeline, negated: false })]
          return pipelineOf(
            pipeline.negated
              ? conditional(condition, statementsOf("((1))"), forgiven("1"))
              : conditional(condition, forgiven("$?"))
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

/** Ends with a status that `set -e` does not see. */
const forgiven = (status: string): Array<StatementNode> => statementsOf(`${STATUS} ${status} && ((1))`)

const isStatus = (statements: Array<StatementNode> | null): boolean => {
  const command = statements?.[0]?.pipelines[0]?.commands[0]
  return command !== undefined && nameOf(command) === STATUS
}

const pipelineOf = (command: CommandNode): PipelineNode => statement(command).pipelines[0]!
const alone = (pipeline: PipelineNode): StatementNode => ({
  ...statement(pipeline.commands[0]!),
  pipelines: [pipeline]
})

/**
 * An assignment that runs no command succeeds. With a redirection the interpreter does so; one that closes what nobody
 * has opened does nothing else, and costs nothing.
 */
const assigned = (command: SimpleCommandNode): void => {
  if (command.name !== null || command.assignments.length === 0 || command.redirections.length > 0) return
  if (!hasSubstitution(command.assignments)) {
    command.redirections.push(structuredClone(CLOSED))
    return
  }
  if (hasSubstitution(command.assignments, "surely") || asksStatus(command)) return
  become(command as never, group([...statementsOf("((1))"), statement({ ...command })]))
}

const CLOSED: Redirection = {
  type: "Redirection",
  fd: 63,
  operator: ">&",
  target: { type: "Word", parts: [{ type: "Literal", value: "-" }] }
}

const asksStatus = (command: SimpleCommandNode): boolean => {
  let found = false
  walk(command, (node) => {
    found ||= node["parameter"] === "?"
  })
  return found
}
