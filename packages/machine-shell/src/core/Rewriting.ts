/**
 * The one way of every text that becomes a script, whether the interpreter asks for it or `eval` and `source` do: from
 * its tree to that of a script which asks the host for nothing and behaves as in bash.
 */
import { parse, serialize } from "just-bash"
import { calculated, readable } from "../repairs/Arithmetic.ts"
import { printed } from "../commands/PrintCommands.ts"
import { declared } from "../repairs/Declarations.ts"
import { defaulted } from "../repairs/Defaults.ts"
import { determined, leaving } from "./Determinism.ts"
import { exported, imported } from "../repairs/Exports.ts"
import type { Exports } from "../repairs/Exports.ts"
import { captured } from "./Forks.ts"
import { positioned } from "./OwnHelp.ts"
import type { JobBody } from "./Forks.ts"
import { judged } from "../repairs/ExitStatus.ts"
import { wholeRanges } from "../repairs/Ranges.ts"
import { grouped, probed } from "../repairs/Redirections.ts"
import { separated } from "../repairs/Separators.ts"
import { located, readFrom, sourced } from "../repairs/Sourcing.ts"
import { streamed } from "./Streaming.ts"
import { subscripted } from "../repairs/Subscripts.ts"
import type { ScriptNode } from "./Syntax.ts"
import { teed } from "./Tee.ts"
import { bound } from "../repairs/Unbound.ts"

/** What the scripts of one run know: the jobs of all of them, the functions that they share, and which commands run others. */
export interface Shared {
  readonly bodies: Array<JobBody>
  readonly exports: Exports
  readonly runners: ReadonlySet<string>
}

/** `first`: the command of the run itself; `part`: what runs within the shell that reads it. */
type Role = "first" | "other" | "part"

/** Rewrites in place; gives the source of the functions of a script that writes to the console. */
export const rewrite = (
  script: ScriptNode,
  mode: "streamed" | "captured" | JobBody,
  { bodies, exports, runners }: Shared,
  role: Role
): string => {
  if (role === "other" && typeof mode !== "object") imported(script, exports)
  exported(script, exports)
  separated(script)
  declared(script)
  calculated(script)
  subscripted(script)
  determined(script)
  positioned(script)
  sourced(script)
  wholeRanges(script)
  defaulted(script)
  grouped(script)
  judged(script)
  printed(script)
  if (role === "other") located(script)
  else leaving(script)
  // What comes behind the tee becomes a subshell: a part has variables to leave behind.
  if (mode === "streamed" && role !== "part") teed(script)
  bound(script)
  probed(script)
  if (mode === "streamed") return streamed(script, bodies, runners)
  captured(script, bodies)
  if (typeof mode === "object") script.statements.push(...mode.functions, mode.statement)
  return ""
}

/** The same of a text, of a file by its path; one that cannot be parsed stays as it is, for the interpreter to say why. */
export const rewritten = (source: string, mode: "streamed" | "captured", shared: Shared, path?: string): string => {
  let script: ScriptNode
  try {
    script = parse(readable(source))
  } catch {
    return source
  }
  if (path !== undefined) readFrom(script, path)
  rewrite(script, mode, shared, "part")
  return serialize(script)
}
