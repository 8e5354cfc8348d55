/**
 * Rewrites `"${x:-default}"`, a quoted word of nothing else: under `set -u` the interpreter reads the parameter first and
 * calls it unbound. With an empty text in front it takes the way that is right.
 */
import { walk } from "../core/Syntax.ts"
import type { ScriptNode, WordPart } from "../core/Syntax.ts"

const DEFAULTS: ReadonlySet<string | undefined> = new Set([
  "DefaultValue",
  "AssignDefault",
  "UseAlternative",
  "ErrorIfUnset"
])

export const defaulted = (script: ScriptNode): void =>
  walk(script, (node) => {
    if (node["type"] !== "DoubleQuoted") return
    const parts = node["parts"] as Array<WordPart>
    const only = parts[0]
    if (parts.length !== 1 || only?.type !== "ParameterExpansion" || !DEFAULTS.has(only.operation?.type)) return
    // `"${a[@]:-x}"` is a list of words.
    if (!/[@*]/.test(only.parameter)) parts.unshift({ type: "Literal", value: "" })
  })
