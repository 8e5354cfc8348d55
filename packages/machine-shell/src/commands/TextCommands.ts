/** Commands that make text. A command that this package and the interpreter lack is not found: exit code 127. */
import { decodeBytesToUtf8, defineCommand } from "just-bash"
import type { Command } from "just-bash"
import { MAX_OUTPUT_BYTES } from "../core/Console.ts"
import { repeatLine } from "../core/Devices.ts"
import { MARK } from "../core/Syntax.ts"
import { fail, ok } from "../core/ShellSession.ts"
import type { ShellSession } from "../core/ShellSession.ts"

const YES_BLOCK_BYTES = 1024 * 1024

export const textCommands = (session: ShellSession): ReadonlyArray<Command> => [
  defineCommand("yes", async (all) => {
    const isOnConsole = all[0] === MARK
    const words = isOnConsole ? all.slice(1) : all
    const line = `${words.length === 0 ? "y" : words.join(" ")}\n`
    if (!isOnConsole) return { stdout: repeatLine(line), stderr: "", exitCode: 141 }
    const block = line.repeat(Math.ceil(YES_BLOCK_BYTES / line.length))
    for (let size = 0; size <= MAX_OUTPUT_BYTES; size += block.length)
      session.console.write(session.clock.now, block, "text")
    return { ...ok(), exitCode: 137 }
  }),
  defineCommand("shuf", async (args, context) => {
    const option = (flag: string) => {
      const at = args.findIndex((arg) => arg.startsWith(flag))
      return at < 0 ? undefined : args[at] === flag ? args[at + 1] : args[at]!.slice(flag.length)
    }
    const range = /^(\d{1,9})-(\d{1,9})$/.exec(option("-i") ?? "")
    const wanted = option("-n")
    const file = args.find((arg, index) => !arg.startsWith("-") && args[index - 1] !== "-n" && args[index - 1] !== "-i")
    if (option("-i") !== undefined && (range === null || Number(range[2]) - Number(range[1]) > 1_000_000)) {
      return fail(`shuf: invalid input range: '${option("-i")}'`)
    }
    const text =
      range !== null
        ? ""
        : file === undefined
          ? decodeBytesToUtf8(context.stdin)
          : await context.fs.readFile(context.fs.resolvePath(context.cwd, file))
    const lines =
      range === null
        ? text.replace(/\n$/, "").split("\n")
        : Array.from({ length: Number(range[2]) - Number(range[1]) + 1 }, (_, i) => String(Number(range[1]) + i))
    for (let i = lines.length - 1; i > 0; i--) {
      const j = session.random() % (i + 1)
      ;[lines[i], lines[j]] = [lines[j]!, lines[i]!]
    }
    const shown = lines.slice(0, wanted === undefined ? lines.length : Number(wanted))
    return ok(shown.map((one) => `${one}\n`).join(""))
  })
]
