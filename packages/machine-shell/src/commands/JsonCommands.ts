/** jq and yq, whose program is put as the interpreter's own ones read it. The time is the machine's, not the host's. */
import { defineCommand } from "just-bash"
import type { Command } from "just-bash"
import type { ShellSession } from "../core/ShellSession.ts"
import { withProgram } from "./Options.ts"

/** Texts, and the words that mean something else to the original. */
const WORDS = /"(?:\\.|[^"\\])*(?:"|$)|(?<![.$\w])(?:unique|now|inputs)(?![\w(:])|@csv(?!\s*")/g

export const jsonCommands = (session: ShellSession): ReadonlyArray<Command> =>
  ["jq", "yq"].map((name) =>
    defineCommand(name, (args, context) => {
      // `-n` with `inputs` is `-s`, in whose program all of them have a name.
      const whole = args.map((arg) =>
        NO_INPUT.test(arg) ? (arg.startsWith("--") ? "-s" : arg.replace("n", "s")) : arg
      )
      const nothing = whole.join("\0") !== args.join("\0")
      let reads = false
      const changed = withProgram(args, VALUES, (program) =>
        program.replace(WORDS, (found) => {
          if (found === "now") return `(${session.clock.now / 1000})`
          if (found !== "inputs" || !nothing) return MEANT[found] ?? found
          reads = true
          return `${INPUTS}[]`
        })
      )
      if (!reads) return context.origCommand!(changed)
      const read = changed.map((arg, at) => (NO_INPUT.test(arg) ? whole[at]! : arg))
      return context.origCommand!(withProgram(read, VALUES, (program) => `${NAMED} | ${program}`))
    })
  )

const NO_INPUT = /^(?:-[a-zA-Z]*n[a-zA-Z]*|--null-input)$/
const INPUTS = "$shell_inputs"
/** `-R` gives a text instead of a list. */
const NAMED = `(if type == "string" then rtrimstr("\\n") | split("\\n") else . end) as ${INPUTS} | null`

/** What the original does otherwise: `unique` leaves the order as it was, `@csv` puts no text in quotes. */
const MEANT: Readonly<Record<string, string>> = {
  unique: "unique_by(.)",
  "@csv": `(map(if type == "string" then "\\"" + gsub("\\""; "\\"\\"") + "\\"" elif . == null then "" else tostring end) | join(","))`
}

/** Options whose values are not the program, by how many they have. */
const VALUES: Readonly<Record<string, number>> = {
  "--arg": 2,
  "--argjson": 2,
  "--slurpfile": 2,
  "--rawfile": 2,
  "--indent": 1,
  "-L": 1
}
