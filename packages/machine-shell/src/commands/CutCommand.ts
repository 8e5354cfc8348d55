/** cut. Prints a line without the delimiter whole; the interpreter's own cut prints an empty field for it. */
import { bytesOf, binary, Refusal, tool } from "./Options.ts"

const LONG = {
  bytes: "b",
  characters: "c",
  fields: "f",
  delimiter: "d",
  "only-delimited": "s",
  complement: "C",
  "output-delimiter": "o"
}

export const cutCommand = tool("cut", { flags: "snC", valued: "bcfdo", long: LONG }, async (options, context) => {
  const kinds = options.given.filter(([letter]) => "bcf".includes(letter))
  if (kinds.length !== 1) {
    throw new Refusal(
      kinds.length === 0 ? "you must specify a list of bytes, characters, or fields" : "only one list may be specified"
    )
  }
  const [kind, list] = kinds[0]!
  const delimiter = latin1(options.value("d") ?? "\t")
  if (kind === "f" && Buffer.from(options.value("d") ?? "\t").length !== 1) {
    throw new Refusal("the delimiter must be a single character")
  }
  if (kind !== "f" && options.has("ds")) {
    throw new Refusal(
      `${options.has("d") ? "an input delimiter may be specified" : "suppressing non-delimited lines makes sense"} only when operating on fields`
    )
  }
  const ranges = rangesOf(list)
  const isWanted = (at: number) => ranges.some(([from, to]) => at >= from && at <= to) !== options.has("C")
  const between = latin1(options.value("o") ?? (kind === "f" ? delimiter : ""))
  let stdout = ""
  let stderr = ""
  for (const operand of options.operands.length === 0 ? ["-"] : options.operands) {
    try {
      const text = await bytesOf(context, operand)
      const lines = text.split("\n")
      if (lines.at(-1) === "") lines.pop()
      context.executionScope?.consumeWork(Math.ceil(text.length / 64), "cut")
      for (const line of lines) {
        const isWhole = kind === "f" && !line.includes(delimiter)
        if (isWhole && options.has("s")) continue
        const parts = kind === "f" ? line.split(delimiter) : Array.from(line)
        stdout += `${isWhole ? line : parts.filter((_, at) => isWanted(at + 1)).join(between)}\n`
      }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      stderr += `cut: ${error.message}\n`
    }
  }
  return binary(stdout, stderr, stderr === "" ? 0 : 1)
})

const latin1 = (text: string): string => Buffer.from(text).toString("latin1")

const rangesOf = (list: string): ReadonlyArray<readonly [from: number, to: number]> =>
  list.split(/[, ]/).map((range) => {
    const match = /^(?:(\d{1,9})(-(\d{1,9})?)?|-(\d{1,9}))$/.exec(range)
    if (match === null) throw new Refusal(`invalid field value '${range}'`)
    const [, from, open, to, upTo] = match
    const first = Number(from ?? 1)
    if (first === 0) throw new Refusal("fields are numbered from 1")
    return [first, upTo !== undefined ? Number(upTo) : open === undefined ? first : Number(to ?? Infinity)]
  })
