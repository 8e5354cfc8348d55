/** Shared parts of this package's commands: options as GNU programs read them, sizes, and files as bytes. */
import { defineCommand, latin1FromBytes } from "just-bash"
import type { Command, ResolvedCommandContext } from "just-bash"
import { fail } from "../core/ShellSession.ts"
import type { CommandResult } from "../core/ShellSession.ts"

export interface Syntax {
  /** Letters without a value, and letters with one. */
  readonly flags?: string
  readonly valued?: string
  /** Letters whose value, if any, is in the same word: `-i.bak`. */
  readonly attached?: string
  /** Long names, with the letter that each stands for. */
  readonly long?: Readonly<Record<string, string>>
  /** True: the first operand begins another command, whose options are its own. */
  readonly runs?: boolean
  readonly failsWith?: number
}

export interface Options {
  readonly given: ReadonlyArray<readonly [letter: string, value: string]>
  readonly operands: ReadonlyArray<string>
  readonly has: (letters: string) => boolean
  /** Returns the last value that was given. */
  readonly value: (letter: string) => string | undefined
}

/** Ends a command with a message and an exit code. */
export class Refusal extends Error {
  readonly exitCode: number
  constructor(message: string, exitCode = 1) {
    super(message)
    this.exitCode = exitCode
  }
}

/** Defines a command with options. A `Refusal` ends it with its message on stderr. */
export const tool = (
  name: string,
  syntax: Syntax,
  run: (options: Options, context: ResolvedCommandContext, args: Array<string>) => Promise<CommandResult>
): Command =>
  defineCommand(name, async (args, context) => {
    try {
      return await run(optionsOf(syntax, args), context, args)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return fail(`${name}: ${error.message}`, error.exitCode)
    }
  })

const optionsOf = (syntax: Syntax, args: ReadonlyArray<string>): Options => {
  const { flags = "", valued = "", attached = "", long = {}, failsWith = 1 } = syntax
  const given: Array<[string, string]> = []
  const operands: Array<string> = []
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!
    if (arg === "--" || (syntax.runs === true && !/^-./.test(arg))) {
      operands.push(...args.slice(arg === "--" ? i + 1 : i))
      break
    }
    if (arg.startsWith("--")) {
      const at = arg.indexOf("=")
      const name = at < 0 ? arg.slice(2) : arg.slice(2, at)
      const letter = long[name]
      if (letter === undefined) throw new Refusal(`unrecognized option '--${name}'`, failsWith)
      if (at >= 0) given.push([letter, arg.slice(at + 1)])
      else if (valued.includes(letter)) given.push([letter, args[++i] ?? missing(`'--${name}'`, failsWith)])
      else given.push([letter, ""])
    } else if (!/^-./.test(arg)) operands.push(arg)
    else {
      for (let j = 1; j < arg.length; j++) {
        const letter = arg[j]!
        const rest = arg.slice(j + 1)
        if (valued.includes(letter)) {
          given.push([letter, rest === "" ? (args[++i] ?? missing(`-- '${letter}'`, failsWith)) : rest])
          break
        }
        if (attached.includes(letter)) {
          given.push([letter, rest])
          break
        }
        if (!flags.includes(letter)) throw new Refusal(`invalid option -- '${letter}'`, failsWith)
        given.push([letter, ""])
      }
    }
  }
  return {
    given,
    operands,
    has: (letters) => given.some(([letter]) => letters.includes(letter)),
    value: (letter) => given.findLast(([one]) => one === letter)?.[1]
  }
}

const missing = (option: string, exitCode: number): never => {
  throw new Refusal(`option requires an argument ${option}`, exitCode)
}

/** Returns the bytes of `2K`, `1MiB`, `3kB` or `512`; undefined for any other text. */
export const sizeOf = (text: string): number | undefined => {
  const match = /^(\d{1,15})(?:(b)|([kKMGTP])(iB|B)?)?$/.exec(text)
  if (match === null) return undefined
  const [, count, blocks, unit, base] = match
  const power = unit === undefined ? 0 : "KMGTP".indexOf(unit.toUpperCase()) + 1
  return Number(count) * (blocks === undefined ? (base === "B" ? 1000 : 1024) ** power : 512)
}

/**
 * Returns the bytes of an operand, one character for each; `-` is the stdin. Fails with a `Refusal` when there is no
 * such file.
 */
export const bytesOf = async (context: ResolvedCommandContext, operand: string): Promise<string> => {
  if (operand === "-") return latin1FromBytes(context.stdin)
  const path = context.fs.resolvePath(context.cwd, operand)
  const stat = await context.fs.stat(path).catch(() => undefined)
  if (stat === undefined) throw new Refusal(`${operand}: No such file or directory`)
  if (stat.isDirectory) throw new Refusal(`${operand}: Is a directory`)
  context.executionScope?.consumeInput(stat.size, "input")
  return context.fs.readFile(path, "binary")
}

/** Returns output that is bytes, one character for each. */
export const binary = (stdout: string, stderr = "", exitCode = 0) => ({
  stdout,
  stderr,
  exitCode,
  stdoutKind: "bytes" as const,
  stdoutEncoding: "binary" as const
})

/**
 * Replaces the program of a command: the first argument that is no option and no value of one. `values` counts the
 * values of the options that have some.
 */
export const withProgram = (
  args: ReadonlyArray<string>,
  values: Readonly<Record<string, number>>,
  change: (program: string) => string
): Array<string> => {
  let at = 0
  while (at < args.length && /^-./.test(args[at]!)) {
    const skipped = values[args[at]!] ?? 0
    at += 1 + skipped
  }
  return args.map((arg, index) => (index === at ? change(arg) : arg))
}
