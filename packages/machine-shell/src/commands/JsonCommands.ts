/** jq and yq. Rewrites their programs to the forms that the interpreter's own ones read. The time is the machine's. */
import { defineCommand } from "just-bash"
import type { Command } from "just-bash"
import type { ShellSession } from "../core/ShellSession.ts"
import { withProgram } from "./Options.ts"

/** Texts, and the words that have another meaning in the original. */
const WORDS = /"(?:\\.|[^"\\])*(?:"|$)|(?<![.$\w])(?:unique|now|inputs)(?![\w(:])|@csv(?!\s*")/g

export const jsonCommands = (session: ShellSession): ReadonlyArray<Command> =>
  ["jq", "yq"].map((name) =>
    defineCommand(name, (args, context) => {
      // `-n` with `inputs` becomes `-s`, whose program gives a name to all inputs.
      const slurpArgs = args.map((arg) =>
        NO_INPUT.test(arg) ? (arg.startsWith("--") ? "-s" : arg.replace("n", "s")) : arg
      )
      const hasNullInput = slurpArgs.join("\0") !== args.join("\0")
      let hasInputs = false
      const changed = withProgram(args, VALUES, (program) =>
        program.replace(WORDS, (found) => {
          if (found === "now") return `(${session.clock.now / 1000})`
          if (found !== "inputs" || !hasNullInput) return REPLACEMENTS[found] ?? found
          hasInputs = true
          return `${INPUTS}[]`
        })
      )
      if (!hasInputs) return context.origCommand!(changed)
      const read = changed.map((arg, at) => (NO_INPUT.test(arg) ? slurpArgs[at]! : arg))
      return context.origCommand!(withProgram(read, VALUES, (program) => `${NAMED} | ${program}`))
    })
  )

const NO_INPUT = /^(?:-[a-zA-Z]*n[a-zA-Z]*|--null-input)$/
const INPUTS = "$shell_inputs"
/** `-R` gives a text in place of a list. */
const NAMED = `(if type == "string" then rtrimstr("\\n") | split("\\n") else . end) as ${INPUTS} | null`

/** Replacements where the original differs: its `unique` keeps the order, and its `@csv` puts no text in quotes. */
const REPLACEMENTS: Readonly<Record<string, string>> = {
  unique: "unique_by(.)",
  "@csv": `(map(if type == "string" then "\\"" + gsub("\\""; "\\"\\"") + "\\"" elif . == null then "" else tostring end) | join(","))`
}

/** Options with values in front of the program, by the number of their values. */
const VALUES: Readonly<Record<string, number>> = {
  "--arg": 2,
  "--argjson": 2,
  "--slurpfile": 2,
  "--rawfile": 2,
  "--indent": 1,
  "-L": 1
}
