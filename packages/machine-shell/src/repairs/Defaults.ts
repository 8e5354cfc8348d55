/**
 * Rewrites `"${x:-default}"` where it is all of a quoted word. Under `set -u` the interpreter reads the parameter first
 * and reports it as unbound. With an empty text in front it evaluates the default.
 */
import { walk } from "../core/Syntax.ts"
import type { ScriptNode, WordPart } from "../core/Syntax.ts"

const OPERATIONS: ReadonlySet<string | undefined> = new Set([
  "DefaultValue",
  "AssignDefault",
  "UseAlternative",
  "ErrorIfUnset"
])

export const rewriteQuotedDefaults = (script: ScriptNode): void =>
  walk(script, (node) => {
    if (node["type"] !== "DoubleQuoted") return
    const parts = node["parts"] as Array<WordPart>
    const only = parts[0]
    if (parts.length !== 1 || only?.type !== "ParameterExpansion" || !OPERATIONS.has(only.operation?.type)) return
    // `"${a[@]:-x}"` is a list of words, to which an empty text would add.
    if (!/[@*]/.test(only.parameter)) parts.unshift({ type: "Literal", value: "" })
  })
