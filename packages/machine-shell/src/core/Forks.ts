/**
 * `cmd &` becomes a command that runs a job beside the script on the machine's clock: the job's number is what it gets, as
 * a script can't hold a script.
 */
import { become, MARK, statement, statementsOf, walk } from "./Syntax.ts"
import type { FunctionDefNode, ScriptNode, StatementNode } from "./Syntax.ts"

/** What a background job runs, rewritten once however often it is begun. */
export interface JobBody {
  readonly functions: ReadonlyArray<StatementNode>
  readonly statement: StatementNode
}

/** Where output is captured, what jobs write is too: all of it where they begin. */
export const captured = (script: ScriptNode, bodies: Array<JobBody>): void => {
  const functions: Array<StatementNode> = []
  walk(script, (node) => {
    if (node["type"] === "FunctionDef") functions.push(statement(node as unknown as FunctionDefNode))
  })
  walk(script, (node) => {
    const one = node as unknown as StatementNode
    if (one.type === "Statement" && one.background) begin(one, { functions, statement: ended(one) }, bodies, CAPTURED)
  })
}

/** What is asked of the fork whose output is its own. */
export const CAPTURED = "captured"

/** What a job runs. */
export const ended = (one: StatementNode): StatementNode => ({ ...one, background: false })

/** Turns a statement into the fork of a job, which is added to the bodies. */
export const begin = (one: StatementNode, body: JobBody, bodies: Array<JobBody>, mode = ""): void => {
  const at = bodies.push(body) - 1
  // Of its variables a shell gives what it runs all but the arrays.
  const [forked] = statementsOf(`${MARK}fork ${at} "$(declare -a; declare -A)" ${mode}`)
  become(one as unknown as Record<string, unknown>, forked!)
}
