/**
 * Rewrites a script so that each command writes to the console when it runs, not when the script ends: every command
 * whose output nobody captures gets `&>>/dev/console` as its first redirection, so its own redirections still hold.
 *
 * What is captured (`$(...)`, the front of a pipe, a redirected loop) stays as it is written, so captured values cannot
 * change; but for `command 2>&1 | tee FILE`, whose copy the console makes. A function called where output is not captured
 * runs as its twin, a copy whose commands write to the console.
 * `cmd &` becomes a job that runs beside the script on the machine's clock.
 */
import { SOURCING, STATUS } from "../repairs/ExitStatus.ts"
import { begin, captured, ended } from "./Forks.ts"
import type { JobBody } from "./Forks.ts"
import { CONSOLE } from "./MachineFs.ts"
import { onConsole } from "../repairs/Sourcing.ts"
import { become, group, hasSubstitution, MARK, nameOf, statement, statementsOf, walk, word } from "./Syntax.ts"
import { copied, isCopied } from "./Tee.ts"
import { isTraced } from "./Tracing.ts"
import { MAX_TWINNED, undefinedTwin, withTwin } from "./Twins.ts"
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

/** Nothing to write, and their effect is on the shell itself. */
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

/** Those of them that go on behind their redirection. */
const TRACED: ReadonlySet<string> = new Set([":", "true", "false", "shift"])

/** Rewrites in place; gives the source of the script's functions, and adds what its jobs run to `bodies`. */
export const streamed = (script: ScriptNode, bodies: Array<JobBody>, runners: ReadonlySet<string>): string => {
  const functions: Functions = new Map()
  const room = { left: MAX_TWINNED }
  walk(script, (node) => {
    if (node["type"] !== "Pipeline") return
    const pipeline = node as unknown as PipelineNode
    pipeline.commands = pipeline.commands.map((command) =>
      command.type === "FunctionDef" && command.redirections.length === 0 ? withTwin(command, functions, room) : command
    )
  })
  const sources = [...functions.values()].map(({ source }) => source).join("\n")
  if (redirectsItself(script)) {
    captured(script, bodies)
    return sources
  }
  // Until its definition is reached, a twin calls whatever has the plain name.
  const undefinedTwins = [...functions.keys()].flatMap((name) => statementsOf(undefinedTwin(name)))
  const definitions = [...functions.values()].map(({ definition }) => statement(definition))
  const rewrite = new Rewrite(functions, [...undefinedTwins, ...definitions], bodies, runners, isTraced(script))
  walk(script, (node) => {
    const definition = node as unknown as FunctionDefNode
    if (definition.type === "FunctionDef" && definition.name.startsWith(MARK)) rewrite.command(definition.body)
  })
  rewrite.statements(script.statements)
  captured(script, bodies)
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

  /** Rewrites in place; the command itself may become another one. */
  command(command: CommandNode): void {
    if (command.type === "FunctionDef" || command.type === "ArithmeticCommand" || command.type === "ConditionalCommand")
      return
    if (command.type === "SimpleCommand") {
      const name = nameOf(command)
      if (command.name === null) {
        if (command.assignments.some((one) => hasSubstitution(one))) wrap(command)
        else this.#trace(command)
        return
      }
      if (name === "exec") command.redirections = command.redirections.filter(isMeant).map(shown)
      if (name !== undefined && SILENT.has(name)) {
        if (TRACED.has(name)) this.#trace(command)
        return
      }
      if (name !== undefined && this.#functions.has(name) && command.redirections.every(isTransparent)) {
        command.name = { type: "Word", parts: [{ type: "Literal", value: MARK + name }] }
        this.#trace(command)
        return
      }
      if (name !== undefined && this.#runners.has(name) && command.redirections.every(isTransparent))
        command.args.unshift(word(MARK))
      if (name !== undefined && SOURCING.has(name) && command.redirections.every(isTransparent)) onConsole(command)
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

  /** What is traced of a command that writes nothing itself. */
  #trace(command: SimpleCommandNode): void {
    if (this.#traced) command.redirections.unshift(toConsole("2>>"))
  }

  #pipeline(pipeline: PipelineNode): void {
    if (isCopied(pipeline)) {
      this.command(pipeline.commands[0]!)
      pipeline.commands = copied(pipeline)
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
    const body = { functions: this.#definitions, statement: ended(one) }
    this.statements([body.statement])
    begin(one, body, this.#bodies)
  }
}

/** `exec >file`: from there on nothing is the console's, so such a script writes as a whole, at its end. */
const redirectsItself = (script: ScriptNode): boolean => {
  let found = false
  walk(script.statements, (node) => {
    const command = node as unknown as CommandNode
    if (command.type !== "SimpleCommand" || nameOf(command) !== "exec" || command.args.length > 0) return
    found ||= command.redirections.some(
      (one) => !one.operator.startsWith("<") && (one.fd === null || one.fd < 3) && isMeant(one)
    )
  })
  return found
}

/** Neither takes output away nor matters where both streams end in one place. */
const isTransparent = (one: Redirection): boolean => {
  if (one.operator === "<" || one.operator.startsWith("<<")) return true
  if (one.operator !== ">&" || one.target.type !== "Word") return false
  const part = one.target.parts[0]
  return part?.type === "Literal" && (part.value === "1" || part.value === "2")
}

/** `exec 2>&1`: both are the console anyway. */
const isMeant = (one: Redirection): boolean => (one.fd ?? 0) > 2 || one.operator !== ">&" || !isTransparent(one)

/** `exec 3>&1`: what is written there later is written at once. */
const shown = (one: Redirection): Redirection =>
  (one.fd ?? 0) > 2 && one.operator === ">&" && isTransparent(one) ? { ...toConsole("2>>"), fd: one.fd } : one

const toConsole = (operator: "&>>" | "2>>"): Redirection => ({
  type: "Redirection",
  fd: operator === "2>>" ? 2 : null,
  operator: operator === "2>>" ? ">>" : "&>>",
  target: { type: "Word", parts: [{ type: "Literal", value: CONSOLE }] }
})

/** `x=$(cmd)` has no output of its own, but what `cmd` writes to stderr. */
const wrap = (command: CommandNode): void => {
  const inner = { ...command }
  become(command as unknown as Record<string, unknown>, group([statement(inner)], [toConsole("&>>")]))
}
