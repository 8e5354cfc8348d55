/** Commands that run others with arguments or variables: `xargs` by words, lines or items, `env` and `printenv`. */
import { decodeBytesToUtf8, defineCommand, latin1FromBytes, unsafeBytesFromLatin1 } from "just-bash"
import type { Command, ResolvedCommandContext } from "just-bash"
import { ok } from "../core/ShellSession.ts"
import type { ShellSession } from "../core/ShellSession.ts"
import { bytesOf, Refusal, tool } from "./Options.ts"
import type { Options } from "./Options.ts"
import { runChild, quote } from "../core/Children.ts"

const XARGS = {
  null: "0",
  "arg-file": "a",
  delimiter: "d",
  "max-args": "n",
  "max-lines": "L",
  "max-procs": "P",
  "no-run-if-empty": "r",
  verbose: "t",
  exit: "x"
}
const MAX_CONCURRENT = 1000
const ENV = { "ignore-environment": "i", unset: "u", chdir: "C", null: "0" }

export const runnerCommands = (session: ShellSession): ReadonlyArray<Command> => [
  tool(
    "xargs",
    { flags: "0rtxo", valued: "adILnPsE", attached: "i", long: XARGS, runs: true },
    async (options, context) => {
      const [name = "echo", ...initial] = options.operands
      const batches = await batchesOf(options, context)
      const place = placeholder(options)
      // Commands that run at the same time begin at the same moment of the machine's clock.
      const { clock } = session
      const slots: Array<number> = Array.from(
        { length: Math.max(1, Math.min(number(options, "P") ?? 1, batches.length, MAX_CONCURRENT)) },
        () => clock.now
      )
      let [out, errors, exitCode] = ["", "", 0]
      for (const batch of batches) {
        const slot = slots.indexOf(Math.min(...slots))
        clock.now = slots[slot]!
        const args =
          place === undefined ? [...initial, ...batch] : initial.map((arg) => arg.replaceAll(place, () => batch[0]!))
        if (options.has("t")) errors += `${[name, ...args].join(" ")}\n`
        const result = await runChild(session, context, name, args, { hasStdin: false })
        slots[slot] = clock.now
        out += result.stdoutKind === "bytes" ? decodeBytesToUtf8(unsafeBytesFromLatin1(result.stdout)) : result.stdout
        errors += result.stderr
        if (result.exitCode === 126 || result.exitCode === 127 || context.signal?.aborted === true) {
          exitCode = result.exitCode
          break
        }
        if (result.exitCode === 255) {
          errors += `xargs: ${name}: exited with status 255; aborting\n`
          exitCode = 124
          break
        }
        if (result.exitCode !== 0) exitCode = 123
      }
      clock.now = Math.max(...slots)
      return { stdout: out, stderr: errors, exitCode }
    }
  ),
  tool("env", { flags: "i0", valued: "uC", long: ENV, runs: true, failsWith: 125 }, async (options, context) => {
    const operands = options.operands[0] === "-" ? options.operands.slice(1) : [...options.operands]
    const isCleared = options.has("i") || options.operands[0] === "-"
    const outer = context.exportedEnv ?? {}
    const variables = new Map(isCleared ? [] : Object.entries(outer))
    for (const [letter, name] of options.given) if (letter === "u") variables.delete(name)
    while (operands[0]?.includes("=") === true) {
      const [, name = "", value = ""] = /^([^=]*)=(.*)$/s.exec(operands.shift()!) ?? []
      variables.set(name, value)
    }
    const [command, ...args] = operands
    if (command === undefined)
      return ok([...variables].map(([name, value]) => `${name}=${value}${options.has("0") ? "\0" : "\n"}`).join(""))
    // The interpreter exports only the variables of an assignment prefix, and a shell would get the machine's variables
    // again. So removed variables become empty.
    const gone = /^(.*\/)?(ba)?sh$/.test(command)
      ? Object.keys(outer).filter((name) => name !== "PATH" && name !== "PWD" && !variables.has(name))
      : []
    const words = [...gone.map((name) => [name, ""] as const), ...variables].filter(([name]) =>
      /^[A-Za-z_]\w*$/.test(name)
    )
    const source = `${words.map(([name, value]) => `${name}=${quote(value)} `).join("")}command`
    const directory = options.value("C")
    return context.exec!(source, {
      cwd: directory === undefined ? context.cwd : context.fs.resolvePath(context.cwd, directory),
      replaceEnv: true,
      env: { PATH: outer["PATH"] ?? "/usr/bin:/bin" },
      args: [command, ...args],
      stdin: latin1FromBytes(context.stdin),
      stdinKind: "bytes",
      signal: context.signal!
    })
  }),
  defineCommand("printenv", async (args, context) => {
    const exported = context.exportedEnv ?? {}
    const names = args.filter((arg) => !arg.startsWith("-"))
    const shown =
      names.length === 0
        ? Object.entries(exported).map((pair) => pair.join("="))
        : names.flatMap((name) => exported[name] ?? [])
    return { ...ok(shown.map((one) => `${one}\n`).join("")), exitCode: names.every((name) => name in exported) ? 0 : 1 }
  })
]

const placeholder = (options: Options): string | undefined =>
  options.has("Ii") ? (options.value("I") ?? (options.value("i") || "{}")) : undefined

const number = (options: Options, letter: string): number | undefined => {
  const text = options.value(letter)
  if (text === undefined) return undefined
  if (!/^\d{1,9}$/.test(text) || (text === "0" && letter !== "P"))
    throw new Refusal(`invalid number "${text}" for -${letter} option`)
  return text === "0" ? Infinity : Number(text)
}

/** Returns the arguments of each command to run. */
const batchesOf = async (
  options: Options,
  context: ResolvedCommandContext
): Promise<ReadonlyArray<ReadonlyArray<string>>> => {
  const file = options.value("a")
  const bytes = file === undefined ? context.stdin : unsafeBytesFromLatin1(await bytesOf(context, file))
  const input = decodeBytesToUtf8(bytes)
  const delimiter = options.has("0")
    ? "\0"
    : options.value("d")?.replace(/\\([nt0\\])/g, (_, one: string) => ({ n: "\n", t: "\t", "0": "\0" })[one] ?? one)
  const lines = options.value("L")
  const chunk = number(options, lines === undefined ? "n" : "L") ?? Infinity
  const parts = delimiter === undefined ? input.split("\n") : input.split(delimiter)
  if (parts.at(-1) === "") parts.pop()
  context.executionScope?.consumeWork(parts.length, "xargs")
  const items =
    delimiter !== undefined
      ? parts
      : placeholder(options) !== undefined
        ? parts.filter((line) => line.trim() !== "").map((line) => wordsOf(line.trimStart(), false).join(""))
        : lines === undefined
          ? wordsOf(input, true)
          : []
  if (lines !== undefined && delimiter === undefined) {
    const found = parts.map((line) => wordsOf(line, true)).filter((words) => words.length > 0)
    return splitEvery(found, chunk).map((several) => several.flat())
  }
  if (placeholder(options) !== undefined) return items.map((item) => [item])
  if (items.length === 0) return options.has("r") ? [] : [[]]
  return splitEvery(items, chunk)
}

const splitEvery = <A>(items: ReadonlyArray<A>, size: number): ReadonlyArray<ReadonlyArray<A>> =>
  size === Infinity
    ? [items]
    : Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size))

/** Returns the words of a text without their quotes and backslashes. Without `split` a blank ends no word. */
const wordsOf = (text: string, split: boolean): ReadonlyArray<string> => {
  const words: Array<string> = []
  let word: string | undefined
  for (const [found, single, double, escaped] of text.matchAll(/'([^'\n]*)'|"([^"\n]*)"|\\([^])|[^]/g)) {
    if (found === "'" || found === '"')
      throw new Refusal(
        `unmatched ${found === "'" ? "single" : "double"} quote; by default quotes are special to xargs unless you use the -0 option`
      )
    if (split && single === undefined && double === undefined && escaped === undefined && /\s/.test(found)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = (word ?? "") + (single ?? double ?? escaped ?? found)
  }
  if (word !== undefined) words.push(word)
  return words
}
