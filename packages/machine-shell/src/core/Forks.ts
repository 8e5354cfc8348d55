/**
 * Rewrites `cmd &` to a command that runs a job beside the script on the machine's clock. The command gets the index of
 * the job's body, since a script cannot hold another script.
 */
import { replaceNode, MARK, statement, statementsOf, walk } from "./Syntax.ts"
import type { FunctionDefNode, ScriptNode, StatementNode } from "./Syntax.ts"

/** The script of a background job. It is rewritten once, however often the job starts. */
export interface JobBody {
  readonly functions: ReadonlyArray<StatementNode>
  readonly statement: StatementNode
}

/** Rewrites the jobs of captured output. The capture gets the output of such a job as a whole, when the job starts. */
export const rewriteCapturedJobs = (script: ScriptNode, bodies: Array<JobBody>): void => {
  const functions: Array<StatementNode> = []
  walk(script, (node) => {
    if (node["type"] === "FunctionDef") functions.push(statement(node as unknown as FunctionDefNode))
  })
  walk(script, (node) => {
    const one = node as unknown as StatementNode
    if (one.type === "Statement" && one.background)
      forkJob(one, { functions, statement: foregroundOf(one) }, bodies, CAPTURED)
  })
}

/** The argument of a fork whose output is captured. */
export const CAPTURED = "captured"

/** Returns the statement without its `&`. */
export const foregroundOf = (one: StatementNode): StatementNode => ({ ...one, background: false })

/** Replaces a statement by the fork of a job, and adds the job's body to `bodies`. */
export const forkJob = (one: StatementNode, body: JobBody, bodies: Array<JobBody>, mode = ""): void => {
  const at = bodies.push(body) - 1
  // A job inherits all variables of its shell but the arrays, so the fork passes the arrays as text.
  const [forked] = statementsOf(`${MARK}fork ${at} "$(declare -a; declare -A)" ${mode}`)
  replaceNode(one as unknown as Record<string, unknown>, forked!)
}
