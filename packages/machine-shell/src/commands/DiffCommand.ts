/** diff of files and of directories. The interpreter's own diff is always unified, and knows no directories. */
import type { ResolvedCommandContext } from "just-bash"
import { binary, bytesOf, Refusal, tool } from "./Options.ts"
import type { Options } from "./Options.ts"
import { findChanges, formatNormal, formatUnified } from "./DiffText.ts"

const LONG = {
  brief: "q",
  "report-identical-files": "s",
  recursive: "r",
  "new-file": "N",
  "ignore-case": "i",
  "ignore-all-space": "w",
  "ignore-space-change": "b",
  "ignore-blank-lines": "B",
  text: "a",
  unified: "u",
  exclude: "x",
  label: "L",
  "ignore-trailing-space": "Z",
  "strip-trailing-cr": "R",
  color: "C",
  normal: "n",
  context: "c",
  "side-by-side": "y"
}

export const diffCommand = tool(
  "diff",
  { flags: "qsrNiwbBZRauCncy0123456789", valued: "UxL", attached: "", long: LONG, failsWith: 2 },
  async (options, context, args) => {
    if (options.has("cy")) throw new Refusal("-c and -y are not simulated; -u is", 2)
    const [left, right, ...more] = options.operands
    if (left === undefined || right === undefined) throw new Refusal(`missing operand after '${left ?? "diff"}'`, 2)
    if (more.length > 0) throw new Refusal(`extra operand '${more[0]}'`, 2)
    const comparison = new Comparison(options, context, args)
    const [one, other] = [await comparison.isDirectory(left), await comparison.isDirectory(right)]
    const fileIn = (directory: string, file: string) =>
      `${directory.replace(/\/$/, "")}/${file.slice(file.lastIndexOf("/") + 1)}`
    if (one && other) await comparison.directories(left, right)
    else await comparison.files(one ? fileIn(left, right) : left, other ? fileIn(right, left) : right)
    return binary(
      comparison.output,
      comparison.errors,
      comparison.errors === "" ? (comparison.hasDifference ? 1 : 0) : 2
    )
  }
)

class Comparison {
  output = ""
  errors = ""
  hasDifference = false
  readonly #options: Options
  readonly #context: ResolvedCommandContext
  /** The options as they were given: `-r` prints them before the files of two directories. */
  readonly #given: string

  constructor(options: Options, context: ResolvedCommandContext, args: ReadonlyArray<string>) {
    this.#options = options
    this.#context = context
    this.#given = ["diff", ...args.filter((arg) => /^-./.test(arg))].join(" ")
  }

  async isDirectory(name: string): Promise<boolean> {
    const { cwd, fs } = this.#context
    return name !== "-" && (await fs.stat(fs.resolvePath(cwd, name)).catch(() => undefined))?.isDirectory === true
  }

  async directories(left: string, right: string): Promise<void> {
    const { cwd, fs } = this.#context
    const excluded = this.#options.given.flatMap(([letter, value]) => (letter === "x" ? [patternOf(value)] : []))
    const namesIn = async (name: string) =>
      (await fs.readdir(fs.resolvePath(cwd, name)).catch(() => [])).filter(
        (entry) => !excluded.some((one) => one.test(entry))
      )
    const [ours, theirs] = [new Set(await namesIn(left)), new Set(await namesIn(right))]
    this.#spend(1 + ours.size + theirs.size)
    for (const name of [...new Set([...ours, ...theirs])].toSorted()) {
      const [one, other] = [`${left}/${name}`, `${right}/${name}`]
      const alone = !theirs.has(name) ? left : ours.has(name) ? undefined : right
      if (alone !== undefined && !this.#options.has("N")) {
        this.#report(`Only in ${alone}: ${name}\n`)
        continue
      }
      const [before, after] = [await this.isDirectory(one), await this.isDirectory(other)]
      if (alone === undefined ? before && after : before || after) {
        if (this.#options.has("r")) await this.directories(one, other)
        else this.output += `Common subdirectories: ${one} and ${other}\n`
      } else if (before !== after) {
        const kind = (isDirectory: boolean) => (isDirectory ? "directory" : "regular file")
        this.#report(`File ${one} is a ${kind(before)} while file ${other} is a ${kind(after)}\n`)
      } else await this.files(one, other, true)
    }
  }

  async files(left: string, right: string, isPart = false): Promise<void> {
    const [before, after] = [await this.#read(left), await this.#read(right)]
    if (before === undefined || after === undefined) return
    const has = this.#options.has
    if ((before.includes("\0") || after.includes("\0")) && !has("a")) {
      if (before !== after) return this.#report(`Binary files ${left} and ${right} differ\n`)
    }
    this.#spend(Math.ceil((before.length + after.length) / 64))
    const lines = linesOf(before)
    const all = findChanges(lines, linesOf(after), keyOf(this.#options), (units) => this.#spend(units))
    const isBlank = (line: string) => line.trim() === ""
    const changes = has("B") ? all.filter(({ added, removed }) => ![...removed, ...added].every(isBlank)) : all
    if (changes.length === 0) {
      if (has("s")) this.output += `Files ${left} and ${right} are identical\n`
      return
    }
    if (has("q")) return this.#report(`Files ${left} and ${right} differ\n`)
    if (isPart) this.output += `${this.#given} ${left} ${right}\n`
    if (!has("uU")) return this.#report(formatNormal(changes))
    const contextLines = contextLinesOf(this.#options)
    if (!Number.isSafeInteger(contextLines)) throw new Refusal("invalid context length", 2)
    const labels = this.#options.given.flatMap(([letter, value]) => (letter === "L" ? [value] : []))
    const head = async (mark: string, name: string, label: string | undefined) =>
      `${mark} ${label ?? `${name}\t${await this.#modified(name)}`}\n`
    this.#report((await head("---", left, labels[0])) + (await head("+++", right, labels[1])))
    this.#report(formatUnified(changes, lines, contextLines))
  }

  #spend(units: number): void {
    this.#context.executionScope?.consumeWork(units, "diff")
  }

  #report(text: string): void {
    this.output += text
    this.hasDifference = true
  }

  async #read(name: string): Promise<string | undefined> {
    try {
      return await bytesOf(this.#context, name)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      if (this.#options.has("N")) return ""
      this.errors += `diff: ${error.message}\n`
      return undefined
    }
  }

  async #modified(name: string): Promise<string> {
    const { cwd, fs } = this.#context
    const stat = await fs.stat(fs.resolvePath(cwd, name)).catch(() => undefined)
    return (stat?.mtime ?? new Date(0))
      .toISOString()
      .replace("T", " ")
      .replace(/(\.\d{3})Z$/, "$1000000 +0000")
  }
}

const linesOf = (text: string): ReadonlyArray<string> => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

/** Returns the lines of context around a change, by `-U1`, `--unified=1` or `-u1`. */
const contextLinesOf = ({ given }: Options): number => {
  const value = given.findLast(([letter, text]) => "uU".includes(letter) && text !== "")?.[1]
  const digits = given.flatMap(([letter]) => (/\d/.test(letter) ? [letter] : [])).join("")
  return Number(value ?? (digits === "" ? 3 : digits))
}

/** Returns the part of a line that is compared. */
const keyOf =
  ({ has }: Options) =>
  (line: string): string => {
    if (has("R")) line = line.replace(/\r\n$/, "\n")
    const compared = has("w")
      ? line.replace(/\s+/g, "")
      : has("b")
        ? `${line.replace(/\s+/g, " ").trimEnd()}\n`
        : has("Z")
          ? `${line.trimEnd()}\n`
          : line
    return has("i") ? compared.toLowerCase() : compared
  }

/** Returns the pattern of `-x`, in which `*` and `?` work as in file names. */
const patternOf = (glob: string): RegExp =>
  new RegExp(
    `^${glob
      .replace(/[.+^${}()|[\]\\]/g, "\\$&")
      .replaceAll("*", ".*")
      .replaceAll("?", ".")}$`
  )
