/**
 * Lets commands treat `--help` as data where it is no option of their own. The interpreter's commands show their help if the word
 * is anywhere in their arguments, also as the argument of a script or the text of `printf`.
 */
import { defineCommand } from "just-bash"
import type { Command, ResolvedCommandContext } from "just-bash"
import { replaceNode, group, MARK, nameOf, statement, walk } from "./Syntax.ts"
import type { CommandNode, ScriptNode, WordNode } from "./Syntax.ts"

const HELP = "--help"

/** Commands whose options end at the first operand, or whose operands are the text of others. */
const LEADING: ReadonlySet<string> = new Set(["bash", "sh", "printf", "awk", "jq", "yq", "find"])

const asksForHelp = (name: string, args: ReadonlyArray<string>): boolean => {
  const at = args.indexOf(HELP)
  if (name === "expr") return args.length === 1
  if (LEADING.has(name)) return at === 0
  const end = args.indexOf("--")
  return end < 0 || at < end
}

/** The arguments for the interpreter's own command. It calls `includes("--help")`, which is false here if the word is data. */
const readBy = (name: string, args: Array<string>): Array<string> => {
  if (!args.includes(HELP) || asksForHelp(name, args)) return args
  const given = [...args]
  const includes = (one: string) => one !== HELP && args.includes(one)
  return Object.defineProperty(given, "includes", { value: includes })
}

const withReader = (name: string, context: ResolvedCommandContext): ResolvedCommandContext => {
  const { origCommand } = context
  if (origCommand === undefined) return context
  return Object.create(context, { origCommand: { value: (args: Array<string>) => origCommand(readBy(name, args)) } })
}

/** Commands that ignore `--help`. They run most often and stay unchanged. */
const PLAIN: ReadonlySet<string> = new Set(["echo", "true", "false", "pwd", "sleep", "alias", "unalias", "history"])

/** All commands, ours and the interpreter's, so that each reads `--help` as real programs do. */
export const withOwnHelp = (commands: ReadonlyArray<Command>, names: ReadonlyArray<string>): Array<Command> => {
  const made = new Set(commands.map(({ name }) => name))
  const others = names.filter((name) => !made.has(name) && !PLAIN.has(name))
  return [...commands, ...others.map((name) => defineCommand(name, (args, context) => context.origCommand!(args)))].map(
    (command) => ({
      ...command,
      execute: (args, context) => command.execute(args, withReader(command.name, context))
    })
  )
}

/** Rewrites `set -- words` if a word may be `--help`: the builtin `set` also looks for it in all its arguments. */
export const rewriteSetPositionals = (script: ScriptNode): void =>
  walk(script, (node) => {
    const command = node as unknown as CommandNode
    if (command.type !== "SimpleCommand" || nameOf(command) !== "set" || command.redirections.length > 0) return
    const end = command.args.findIndex((arg) => literal(arg) === "--")
    const words = command.args.slice(end + 1)
    if (end < 0 || words.every((arg) => /^(?!--help$)/.test(literal(arg) ?? HELP))) return
    const place = { ...command, name: { type: "Word", parts: [{ type: "Literal", value: POSITIONS }] }, args: words }
    const options = { ...command, args: command.args.slice(0, end) }
    replaceNode(node, end === 0 ? place : group([statement(options), statement(place as CommandNode)]))
  })

const literal = ({ parts }: WordNode): string | undefined => {
  const [part] = parts
  return parts.length === 1 && (part?.type === "Literal" || part?.type === "SingleQuoted") ? part.value : undefined
}

const POSITIONS = `${MARK}set`

/** Sets the positional parameters of the calling shell. */
export const setCommand: Command = defineCommand(POSITIONS, async (words, { env }) => {
  const count = Number(env.get("#") ?? 0)
  for (let at = words.length + 1; at <= count; at++) env.delete(String(at))
  for (const [index, text] of words.entries()) env.set(String(index + 1), text)
  env.set("#", String(words.length))
  for (const all of ["@", "*"]) env.set(all, words.join(" "))
  return { stdout: "", stderr: "", exitCode: 0 }
})
