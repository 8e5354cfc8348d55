/**
 * Rewrites a script so that each command writes to the console when it runs, not when the script ends. Every command
 * whose output is not captured gets `&>>/dev/console` as its first redirection, so its own redirections still apply.
 *
 * Captured commands (`$(...)`, the front of a pipe, a redirected loop) stay as they are written, so captured values
 * cannot change. The exception is `command 2>&1 | tee FILE`, whose copy the console makes. A function that is called
 * where output is not captured runs as its twin, a copy whose commands write to the console. `cmd &` becomes a job that
 * runs beside the script on the machine's clock.
 */
import { SOURCING, STATUS } from "../repairs/ExitStatus.ts"
import { forkJob, rewriteCapturedJobs, foregroundOf } from "./Forks.ts"
import type { JobBody } from "./Forks.ts"
import { CONSOLE } from "./MachineFs.ts"
import { streamSourced } from "../repairs/Sourcing.ts"
import { replaceNode, group, hasSubstitution, MARK, nameOf, statement, statementsOf, walk, word } from "./Syntax.ts"
import { copyCommands, isTeePipeline } from "./Tee.ts"
import { isTraced } from "./Tracing.ts"
import { MAX_TWINNED, undefinedTwin, addTwin } from "./Twins.ts"
import type { Functions } from "./Twins.ts"
import type {
  CommandNode,
  FunctionDefNode,
  PipelineNode,
  Redirection,
  ScriptNode,
  SimpleCommandNode,
  StatementNode
} from "./Syntax.ts"

/** Commands that have no output, and whose effect is on the shell itself. */
const SILENT: ReadonlySet<string> = new Set([
  ":",
  "true",
  "false",
  "break",
  "continue",
  "return",
  "exit",
  "shift",
  "exec",
  STATUS
])

/** Silent commands that still work with a redirection, so that their trace can go to the console. */
const TRACEABLE: ReadonlySet<string> = new Set([":", "true", "false", "shift"])

/** Rewrites in place. Returns the source of the script's functions, and adds the scripts of its jobs to `bodies`. */
export const streamToConsole = (script: ScriptNode, bodies: Array<JobBody>, runners: ReadonlySet<string>): string => {
  const functions: Functions = new Map()
  const room = { left: MAX_TWINNED }
  walk(script, (node) => {
    if (node["type"] !== "Pipeline") return
    const pipeline = node as unknown as PipelineNode
    pipeline.commands = pipeline.commands.map((command) =>
      command.type === "FunctionDef" && command.redirections.length === 0 ? addTwin(command, functions, room) : command
    )
  })
  const sources = [...functions.values()].map(({ source }) => source).join("\n")
  if (redirectsItself(script)) {
    rewriteCapturedJobs(script, bodies)
    return sources
  }
  // Until its definition is reached, a twin calls the command of the plain name.
  const undefinedTwins = [...functions.keys()].flatMap((name) => statementsOf(undefinedTwin(name)))
  const definitions = [...functions.values()].map(({ definition }) => statement(definition))
  const rewrite = new Rewrite(functions, [...undefinedTwins, ...definitions], bodies, runners, isTraced(script))
  walk(script, (node) => {
    const definition = node as unknown as FunctionDefNode
    if (definition.type === "FunctionDef" && definition.name.startsWith(MARK)) rewrite.command(definition.body)
  })
  rewrite.statements(script.statements)
  rewriteCapturedJobs(script, bodies)
  script.statements.unshift(...undefinedTwins)
  return sources
}

class Rewrite {
  readonly #functions: Functions
  readonly #definitions: ReadonlyArray<StatementNode>
  readonly #bodies: Array<JobBody>
  readonly #runners: ReadonlySet<string>
  readonly #traced: boolean

  constructor(
    functions: Functions,
    definitions: ReadonlyArray<StatementNode>,
    bodies: Array<JobBody>,
    runners: ReadonlySet<string>,
    traced: boolean
  ) {
    this.#functions = functions
    this.#definitions = definitions
    this.#bodies = bodies
    this.#runners = runners
    this.#traced = traced
  }

  statements(statements: Array<StatementNode>): void {
    for (const one of statements) {
      if (one.background) this.#background(one)
      else for (const pipeline of one.pipelines) this.#pipeline(pipeline)
    }
  }

  /** Rewrites in place. The command itself may become another one. */
  command(command: CommandNode): void {
    if (command.type === "FunctionDef" || command.type === "ArithmeticCommand" || command.type === "ConditionalCommand")
      return
    if (command.type === "SimpleCommand") {
      const name = nameOf(command)
      if (command.name === null) {
        if (command.assignments.some((one) => hasSubstitution(one))) groupAssignment(command)
        else this.#trace(command)
        return
      }
      if (name === "exec") command.redirections = command.redirections.filter(hasEffect).map(sendToConsole)
      if (name !== undefined && SILENT.has(name)) {
        if (TRACEABLE.has(name)) this.#trace(command)
        return
      }
      if (name !== undefined && this.#functions.has(name) && command.redirections.every(isTransparent)) {
        command.name = { type: "Word", parts: [{ type: "Literal", value: MARK + name }] }
        this.#trace(command)
        return
      }
      if (name !== undefined && this.#runners.has(name) && command.redirections.every(isTransparent))
        command.args.unshift(word(MARK))
      if (name !== undefined && SOURCING.has(name) && command.redirections.every(isTransparent)) streamSourced(command)
      command.redirections.unshift(toConsole("&>>"))
      return
    }
    if (!command.redirections.every(isTransparent)) {
      command.redirections.unshift(toConsole("&>>"))
      return
    }
    switch (command.type) {
      case "If":
        for (const clause of command.clauses) {
          this.statements(clause.condition)
          this.statements(clause.body)
        }
        if (command.elseBody !== null) this.statements(command.elseBody)
        return
      case "While":
      case "Until":
        this.statements(command.condition)
        this.statements(command.body)
        return
      case "Case":
        for (const item of command.items) this.statements(item.body)
        return
      default:
        this.statements(command.body)
    }
  }

  /** Sends the trace of a command without output to the console. */
  #trace(command: SimpleCommandNode): void {
    if (this.#traced) command.redirections.unshift(toConsole("2>>"))
  }

  #pipeline(pipeline: PipelineNode): void {
    if (isTeePipeline(pipeline)) {
      this.command(pipeline.commands[0]!)
      pipeline.commands = copyCommands(pipeline)
      delete pipeline.pipeStderr
      return
    }
    pipeline.commands.forEach((command, index) => {
      if (index === pipeline.commands.length - 1) this.command(command)
      else if (command.type !== "FunctionDef" && !(command.type === "SimpleCommand" && command.name === null)) {
        if (pipeline.pipeStderr?.[index] !== true) command.redirections.unshift(toConsole("2>>"))
      }
    })
  }

  #background(one: StatementNode): void {
    const body = { functions: this.#definitions, statement: foregroundOf(one) }
    this.statements([body.statement])
    forkJob(one, body, this.#bodies)
  }
}

/**
 * Returns true for a script with `exec >file`. From there on its output is not the console's, so such a script writes
 * as a whole, at its end.
 */
const redirectsItself = (script: ScriptNode): boolean => {
  let found = false
  walk(script.statements, (node) => {
    const command = node as unknown as CommandNode
    if (command.type !== "SimpleCommand" || nameOf(command) !== "exec" || command.args.length > 0) return
    found ||= command.redirections.some(
      (one) => !one.operator.startsWith("<") && (one.fd === null || one.fd < 3) && hasEffect(one)
    )
  })
  return found
}

/**
 * True for a redirection that takes no output away from the console: an input, or `>&1` and `>&2`, since both streams
 * end there.
 */
const isTransparent = (one: Redirection): boolean => {
  if (one.operator === "<" || one.operator.startsWith("<<")) return true
  if (one.operator !== ">&" || one.target.type !== "Word") return false
  const part = one.target.parts[0]
  return part?.type === "Literal" && (part.value === "1" || part.value === "2")
}

/** False for `exec 2>&1`: both streams are the console. */
const hasEffect = (one: Redirection): boolean => (one.fd ?? 0) > 2 || one.operator !== ">&" || !isTransparent(one)

/** Sends the descriptor of `exec 3>&1` to the console, so that a later write to it appears at once. */
const sendToConsole = (one: Redirection): Redirection =>
  (one.fd ?? 0) > 2 && one.operator === ">&" && isTransparent(one) ? { ...toConsole("2>>"), fd: one.fd } : one

const toConsole = (operator: "&>>" | "2>>"): Redirection => ({
  type: "Redirection",
  fd: operator === "2>>" ? 2 : null,
  operator: operator === "2>>" ? ">>" : "&>>",
  target: { type: "Word", parts: [{ type: "Literal", value: CONSOLE }] }
})

/** Groups `x=$(cmd)` to send the stderr of `cmd` to the console. The assignment itself has no output. */
const groupAssignment = (command: CommandNode): void => {
  const inner = { ...command }
  replaceNode(command as unknown as Record<string, unknown>, group([statement(inner)], [toConsole("&>>")]))
}
