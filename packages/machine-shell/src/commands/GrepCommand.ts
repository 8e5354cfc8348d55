/** grep with all of its patterns, GNU's basic patterns, and GNU's messages about missing files. */
import { defineCommand } from "just-bash"
import type { Command } from "just-bash"
import { tool } from "./Options.ts"

const LONG = {
  "extended-regexp": "E",
  "fixed-strings": "F",
  "basic-regexp": "G",
  "perl-regexp": "P",
  regexp: "e",
  file: "f",
  "ignore-case": "i",
  "invert-match": "v",
  "word-regexp": "w",
  "line-regexp": "x",
  count: "c",
  "files-with-matches": "l",
  "files-without-match": "L",
  "only-matching": "o",
  quiet: "q",
  silent: "q",
  "no-messages": "s",
  "line-number": "n",
  "no-filename": "h",
  "with-filename": "H",
  recursive: "r",
  "dereference-recursive": "R",
  text: "a",
  "max-count": "m",
  "after-context": "A",
  "before-context": "B",
  context: "C",
  include: "1",
  exclude: "2",
  "exclude-dir": "3",
  color: "4",
  colour: "4",
  "line-buffered": "4"
}
const FILTERS: Readonly<Record<string, string>> = { 1: "--include", 2: "--exclude", 3: "--exclude-dir" }
/** Options that the original does not need, or that this command carries out itself. */
const DROPPED = "GsaIHe4U"

const command = tool(
  "grep",
  { flags: "EFGPivwxclLoqsnhHrRaIUy4", valued: "efmABC123", long: LONG, failsWith: 2 },
  async (options, context) => {
    const operands = [...options.operands]
    const given = options.given.flatMap(([letter, value]) => (letter === "e" ? [value] : []))
    if (given.length === 0 && !options.has("f")) given.push(...operands.splice(0, 1))
    const patterns = given.flatMap((one) => one.split("\n")).map((one) => patternOf(one, options.has))
    const isRecursive = options.has("rR")
    const missing: Array<string> = []
    for (const name of operands)
      if (name !== "-" && !(await context.fs.exists(context.fs.resolvePath(context.cwd, name)))) missing.push(name)
    const files = operands.length === 0 && isRecursive ? ["."] : [...operands]
    // With several files the original prints their names.
    if (options.has("H") && !options.has("cL") && files.length > 0) files.push("/dev/null")
    const result = await context.origCommand!([
      ...options.given
        .filter(([letter]) => !DROPPED.includes(letter))
        .flatMap(([letter, value]) =>
          letter in FILTERS
            ? [`${FILTERS[letter]}=${value}`]
            : "fmABC".includes(letter)
              ? [`-${letter}`, value]
              : [`-${letter === "y" ? "i" : letter}`]
        ),
      ...(given.length === 0 ? [] : ["-e", patterns.join("\n")]),
      "--",
      ...files
    ])
    const { stdout, stderr, exitCode } = result
    if (missing.length > 0 && !(options.has("q") && exitCode === 0)) {
      const messages = missing.map((name) => `grep: ${name}: No such file or directory\n`)
      const others = stderr.split(/(?<=\n)/).filter((line) => !messages.includes(line))
      const shown = [...(options.has("s") ? [] : messages), ...others].join("")
      return { stdout, stderr: shown, exitCode: 2 }
    }
    // The original drops the `./` of the files below `.`.
    const isHere = isRecursive && operands.length === 1 && operands[0] === "." && !options.has("h")
    return isHere ? { stdout: stdout.replace(/^(?!--$)(?=.)/gm, "./"), stderr, exitCode } : result
  }
)

/** Rewrites `-3` to `-C3`. */
export const grepCommand: Command = defineCommand("grep", (args, context) =>
  command.execute(
    args.map((arg, at) => (/^-[efmABC]$|^--$/.test(args[at - 1] ?? "") ? arg : arg.replace(/^-(\d+)$/, "-C$1"))),
    context
  )
)

/** Rewrites `(?<=loss )[0-9.]+`, a lookbehind that the original lacks, to `loss \K[0-9.]+`. */
const rewriteLookbehind = (pattern: string): string =>
  pattern.replace(/^\(\?<=((?:[^()[\]\\|]|\\.|\[[^\]]*\])*)\)(?=[^|]*$)/, "$1\\K")

const patternOf = (pattern: string, has: (letters: string) => boolean): string => {
  if (has("F")) return pattern
  const extended = has("EP")
  const printable = has("o") ? rejectEmpty(pattern, extended) : pattern
  return has("P")
    ? rewriteLookbehind(printable)
    : extended
      ? printable
      : printable.replace(/\\[^]/g, (found) => BASIC[found] ?? found)
}

/** Operators of GNU's basic patterns that the original lacks. */
const BASIC: Readonly<Record<string, string>> = { "\\+": "\\{1,\\}", "\\?": "\\{0,1\\}" }

/**
 * Rewrites `[0-9]*` to `[0-9]+` for `-o`. An empty match would end the original, and grep prints no empty match anyway.
 */
const rejectEmpty = (pattern: string, extended: boolean): string =>
  /^(?:\[\^?\]?[^\]]*\]|\.|\\[wWsSdD]|[^-\\[\].*^$(){}|+?])\*$/.test(pattern)
    ? `${pattern.slice(0, -1)}${extended ? "+" : "\\+"}`
    : pattern
