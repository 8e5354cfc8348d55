/**
 * Rewrites arithmetic that the interpreter gets wrong: `((n>=3))` is read as `n > =3`, `((!n))` and `((n - 1))` as two
 * subshells, `((n << 1))` as a here-document. A command within arithmetic would run in a shell of its own, without the
 * variables and functions of the script, and without its quotes.
 */
import { parse } from "just-bash"
import { become, group, MARK, statement, statementsOf, walk } from "../core/Syntax.ts"
import type { ArithmeticCommandNode, ArithmeticExpansionPart, ScriptNode, StatementNode } from "../core/Syntax.ts"

/** What a command within arithmetic gave; the number of the command follows. */
const VALUE = "SHELL_ARITHMETIC_"

/** A script that cannot be read for its arithmetic, or for a `<<< name=value`, says it in another way. */
export const readable = (source: string): string => {
  const other = source
    .replace(ARITHMETIC, (found, text: string) => (/<<|!/.test(text) ? `[ $((${text})) != 0 ]` : found))
    .replace(ASSIGNED_TO, "$1'$2'")
  return other === source || isReadable(source) || !isReadable(other) ? source : other
}

const ARITHMETIC = /(?<![$\w"'])(?<!\bfor\s{0,9})\(\(([^()"'`\n]*)\)\)/g

const ASSIGNED_TO = /((?:<<<|[<>]>?)[ \t]*)([A-Za-z_]\w*=)/g

const isReadable = (source: string): boolean => {
  try {
    parse(source)
    return true
  } catch {
    return false
  }
}

export const calculated = (script: ScriptNode): void => {
  walk(script, (node) => {
    if (node["type"] === "Statement") reread(node as unknown as StatementNode)
  })
  walk(script, (node) => {
    if (node["type"] === "ArithmeticCommand") {
      const command = node as unknown as ArithmeticCommandNode
      command.expression = rejoined(command.expression)
      const before = hoisted(command.expression, true)
      if (before.length > 0) become(node, group([...before, statement({ ...command })]))
    } else if (node["type"] === "ArithmeticExpansion") {
      const part = { ...node } as unknown as ArithmeticExpansionPart
      const before = hoisted(part.expression)
      if (before.length === 0) return
      const shown = statementsOf("echo x")
      const echo = shown[0]!.pipelines[0]!.commands[0]!
      if (echo.type === "SimpleCommand") echo.args = [{ type: "Word", parts: [part] }]
      const body: ScriptNode = { type: "Script", statements: [...before, ...shown] }
      become(node, { type: "CommandSubstitution", body, legacy: false })
    }
  })
}

type Expression = ArithmeticCommandNode["expression"]

/** The interpreter gives the text of `((...))` in words, split in front of the `=`. */
const rejoined = (expression: Expression): Expression => {
  const { originalText = "" } = expression
  const text = originalText.replace(/([<>]) =/g, "$1=")
  return (expression.expression.type === "ArithSyntaxError" && text !== originalText && readAs(text)) || expression
}

/** Of two subshells whose parentheses touch bash makes arithmetic. */
const reread = ({ pipelines, sourceText = "" }: StatementNode): void => {
  let from = 0
  for (const { commands } of pipelines)
    for (const command of commands) {
      const text = command.type === "Subshell" && command.body.length === 1 ? (command.body[0]!.sourceText ?? "") : ""
      if (!/^\([^]*\)$/.test(text)) continue
      const at = sourceText.indexOf(text, from)
      from = at + text.length
      if (sourceText[at - 1] !== "(" || sourceText[from] !== ")") continue
      const expression = readAs(text.slice(1, -1))
      if (expression !== undefined && expression.expression.type !== "ArithSyntaxError")
        become(command as never, { type: "ArithmeticCommand", expression, redirections: command.redirections })
    }
}

const readAs = (text: string): Expression | undefined => {
  let found: Expression | undefined
  const source = `: $((${text}))`
  if (isReadable(source))
    walk(statementsOf(source), (node) => {
      if (node["type"] === "ArithmeticExpansion") found = (node as unknown as ArithmeticExpansionPart).expression
    })
  return found
}

/** Assigns what commands give to variables, and lets the expression read these. */
const hoisted = (expression: Expression, inCommand = false): Array<StatementNode> => {
  const sources = substitutionsOf(expression.originalText ?? "")
  const before = based(expression, inCommand || sources.length > 0)
  walk(expression.expression, (node) => {
    const command = String(node["command"])
    // What `Determinism.ts` has put there needs nothing of the script.
    if (node["type"] !== "ArithCommandSubst" || command.startsWith(MARK)) return
    // The interpreter has taken the quotes away.
    const at = sources.findIndex((one) => bare(one) === bare(command))
    const source = at < 0 ? command : sources.splice(at, 1)[0]!
    const name = `${VALUE}${before.length}`
    const assignment = statementsOf(`${name}=$(${source})`)
    calculated({ type: "Script", statements: assignment })
    before.push(...assignment)
    become(node, { type: "ArithVariable", name, hasDollarPrefix: false })
  })
  // The interpreter reads the text again where a `$name` is in it.
  if (before.length > 0) delete expression.originalText
  return before
}

const bare = (source: string): string => source.replace(/["'\\\s]/g, "")

/** The commands of `$(...)` in a text: each ends where what it has is first a command. */
const substitutionsOf = (text: string): Array<string> => {
  const found: Array<string> = []
  let room = MAX_READ * text.length
  for (let at = text.indexOf("$("); at >= 0; at = text.indexOf("$(", at + 2)) {
    for (let end = text.indexOf(")", at); end >= 0; end = text.indexOf(")", end + 1)) {
      if ((room -= end - at) < 0) return found
      if (!isReadable(`: ${text.slice(at, end + 1)}`)) continue
      found.push(text.slice(at + 2, end).replace(/([<>]) =/g, "$1="))
      at = end
      break
    }
  }
  return found
}
/** How often a text is parsed, so that a hostile one takes no longer than others of its length. */
const MAX_READ = 20

/** The interpreter knows of `10#${name}` only `10#$name`, and that not in `((...))`. So it is found before. */
const based = (expression: Expression, inCommand: boolean): Array<StatementNode> => {
  const { originalText = "" } = expression
  const before: Array<StatementNode> = []
  const text = originalText.replace(BASED, (_, base: string, braced: string | undefined, plain = braced) => {
    const isName = /^\w+$/.test(plain)
    if (isName && !inCommand) return `${base}$${plain}`
    const name = `${VALUE}${before.length}`
    if (!isName) before.push(...statementsOf(`${name}=\${${braced}}`))
    before.push(...statementsOf(`${name}=$((${base}$${isName ? plain : name}))`))
    return name
  })
  const other = text === originalText ? undefined : readAs(text)
  if (other === undefined) return []
  Object.assign(expression, other)
  return before
}
const BASED = /(?<!\w)(\d+#)\$(?:\{([^{}]+)\}|(\w+))/g
