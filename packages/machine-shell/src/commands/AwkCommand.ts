/**
 * awk. Rewrites the arguments, and the program of `-f`, to the forms that the interpreter's awk reads; AwkProgram.ts
 * rewrites the program itself. Random numbers and the time are the machine's; the original would read the host's.
 */
import { defineCommand } from "just-bash"
import type { Command } from "just-bash"
import { fail } from "../core/ShellSession.ts"
import type { ShellSession } from "../core/ShellSession.ts"
import { markFormat, formatMarkedNumbers } from "./AwkNumbers.ts"
import { runPipes } from "./AwkPipes.ts"
import { rewriteAwkProgram } from "./AwkProgram.ts"
import { withProgram } from "./Options.ts"

const VALUES: Readonly<Record<string, number>> = { "-F": 1, "-v": 1, "-f": 1 }
const SEPARATORS = /^(OFS|ORS|FS|RS|OFMT)=(.*)$/s

export const awkCommand = (session: ShellSession): Command =>
  defineCommand("awk", async (all, context) => {
    const begin: Array<string> = []
    const args: Array<string> = []
    const programs: Array<string> = []
    const assign = (assignment: string) => {
      const [, name, text] = SEPARATORS.exec(assignment) ?? []
      if (name === undefined) args.push("-v", assignment)
      else begin.push(`${name}="${text!.replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`)
    }
    let at = 0
    for (; at < all.length && /^-./.test(all[at]!) && all[at] !== "--"; at++) {
      const arg = all[at]!
      const hasValue = arg in VALUES
      const value = hasValue ? (all[++at] ?? "") : arg.slice(2)
      if (arg.startsWith("-v")) assign(value)
      else if (arg.startsWith("-f")) {
        const program = await context.fs.readFile(context.fs.resolvePath(context.cwd, value)).catch(() => undefined)
        if (program === undefined) return fail(`awk: cannot open ${value} (No such file or directory)`, 2)
        programs.push(program)
      } else args.push(...(hasValue ? [arg, value] : [arg]))
    }
    const rest = all.slice(at)
    // An assignment in front of the first file holds from the start of the program.
    while (/^[A-Za-z_]\w*=/.test(rest[programs.length > 0 ? 0 : 1] ?? ""))
      assign(rest.splice(programs.length > 0 ? 0 : 1, 1)[0]!)
    if (programs.length > 0) rest.unshift(programs.join("\n"))
    const machine = { seconds: Math.floor(session.clock.now / 1000), random: () => session.random() }
    const pipes: Array<string> = []
    const result = await context.origCommand!(
      withProgram([...args, ...rest], VALUES, (program) => {
        const rewritten = rewriteAwkProgram(program, machine, pipes)
        // Output to a file or a command does not come back here, so its numbers must not be marked.
        const isMarked = rewritten.isAlone && !all.some((arg) => arg.includes("OFMT"))
        const before = [...(isMarked ? [`OFMT="${markFormat()}"`] : []), ...begin, ...rewritten.begin]
        return `${before.length === 0 ? "" : `BEGIN{${before.join(";")}} `}${rewritten.text}`
      })
    )
    const stdout = formatMarkedNumbers(result.stdout)
    return { ...result, ...(await runPipes({ stdout, stderr: result.stderr }, pipes, context)) }
  })
