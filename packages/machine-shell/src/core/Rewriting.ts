/**
 * Rewrites every text that becomes a script, whether the interpreter parses it or `eval` and `source` run it. The
 * result reads nothing of the host and behaves as in bash. The order of the passes matters: each has its reason beside
 * it.
 */
import { parse, serialize } from "just-bash"
import { rewriteArithmetic, rewriteForParser } from "../repairs/Arithmetic.ts"
import { rewritePrintCalls } from "../commands/PrintCommands.ts"
import { rewriteDeclarations } from "../repairs/Declarations.ts"
import { rewriteQuotedDefaults } from "../repairs/Defaults.ts"
import { rewriteHostReads, saveVariablesBeforeExit } from "./Determinism.ts"
import { collectExportedFunctions, prependExportedFunctions } from "../repairs/Exports.ts"
import type { Exports } from "../repairs/Exports.ts"
import { rewriteCapturedJobs } from "./Forks.ts"
import { rewriteSetPositionals } from "./OwnHelp.ts"
import type { JobBody } from "./Forks.ts"
import { fixExitStatus } from "../repairs/ExitStatus.ts"
import { splitLongRanges } from "../repairs/Ranges.ts"
import { groupRedirectedCalls, probeRedirections } from "../repairs/Redirections.ts"
import { rewriteSeparators } from "../repairs/Separators.ts"
import { rewriteScriptPath, setScriptPath, rewriteSourcing } from "../repairs/Sourcing.ts"
import { streamToConsole } from "./Streaming.ts"
import { rewriteSubscripts } from "../repairs/Subscripts.ts"
import type { ScriptNode } from "./Syntax.ts"
import { rewriteTee } from "./Tee.ts"
import { rewriteUnboundChecks } from "../repairs/Unbound.ts"

/**
 * State that the scripts of one run share: the bodies of all jobs, the exported functions, and the commands that run
 * others.
 */
export interface Shared {
  readonly bodies: Array<JobBody>
  readonly exports: Exports
  readonly runners: ReadonlySet<string>
}

/**
 * `first`: the command of the run itself; `part`: a text that runs within the shell that reads it; `other`: any other
 * script.
 */
type Role = "first" | "other" | "part"

/** Rewrites a script in place. Returns the source of its functions if it writes to the console, else an empty text. */
export const rewrite = (
  script: ScriptNode,
  mode: "streamed" | "captured" | JobBody,
  { bodies, exports, runners }: Shared,
  role: Role
): string => {
  // First, so that every other pass rewrites the functions of the parent shell too.
  if (role === "other" && typeof mode !== "object") prependExportedFunctions(script, exports)
  // Before all rewriting: each shell that gets the functions rewrites them itself.
  collectExportedFunctions(script, exports)
  // Before `fixExitStatus`, which adds a redirection to assignments: this pass takes only those without one.
  rewriteSeparators(script)
  // Before the passes that change words: this pass parses arrays again from the text of their statement.
  rewriteDeclarations(script)
  // Before the passes that change commands: this pass parses expressions and their commands again from the text.
  rewriteArithmetic(script)
  // Before `rewriteHostReads`: the expression is text until this pass parses it.
  rewriteSubscripts(script)
  // Before `fixExitStatus` and `saveVariablesBeforeExit`, which must see the groups and the `exit` that this pass adds.
  rewriteHostReads(script)
  // Behind `rewriteHostReads`, whose commands it also sees, before the passes that add commands of their own.
  rewriteSetPositionals(script)
  // Before `streamToConsole`, which sets the mode of the commands that this pass adds.
  rewriteSourcing(script)
  // Independent of all other passes.
  splitLongRanges(script)
  // Before `rewriteUnboundChecks`, whose own `${x?...}` need no repair.
  rewriteQuotedDefaults(script)
  // Before `fixExitStatus`, which repairs only assignments without a redirection.
  groupRedirectedCalls(script)
  // Behind every pass whose commands need the repair, before those whose commands have the right status.
  fixExitStatus(script)
  // Behind `fixExitStatus`, which knows `echo` by its name.
  rewritePrintCalls(script)
  // Behind `fixExitStatus`, which must not repair the `&&` of a saved `exit`.
  if (role === "other") rewriteScriptPath(script)
  else saveVariablesBeforeExit(script)
  // The rest of the script becomes a subshell. A part must leave its variables to its shell, so it has none.
  if (mode === "streamed" && role !== "part") rewriteTee(script)
  // Behind every pass that adds or parses words, so that no expansion stays unchecked.
  rewriteUnboundChecks(script)
  // Behind every pass that changes words: the probe and its redirection share one target.
  probeRedirections(script)
  // Last: the final commands and redirections decide which commands write to the console.
  if (mode === "streamed") return streamToConsole(script, bodies, runners)
  rewriteCapturedJobs(script, bodies)
  if (typeof mode === "object") script.statements.push(...mode.functions, mode.statement)
  return ""
}

/**
 * Returns a text rewritten as a part, of the file at `path` if it is given. A text that cannot be parsed is returned as
 * it is, and the interpreter reports the error.
 */
export const rewriteText = (source: string, mode: "streamed" | "captured", shared: Shared, path?: string): string => {
  let script: ScriptNode
  try {
    script = parse(rewriteForParser(source))
  } catch {
    return source
  }
  if (path !== undefined) setScriptPath(script, path)
  rewrite(script, mode, shared, "part")
  return serialize(script)
}
