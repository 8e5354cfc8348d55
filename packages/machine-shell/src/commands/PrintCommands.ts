/**
 * `printf` and `echo -e` with bytes for their escapes. The originals read `\303` as a character and write it as two
 * bytes, and drop significant zeros of `%g`. Only calls that may need this go to these commands, which cost more than
 * the originals.
 */
import { defineCommand, encodeUtf8ToBytes, latin1FromBytes } from "just-bash"
import type { Command, ResolvedCommandContext } from "just-bash"
import { formatNumber } from "./Numbers.ts"
import { MARK, nameOf, walk } from "../core/Syntax.ts"
import type { CommandNode, ScriptNode } from "../core/Syntax.ts"
import type { CommandResult, ShellSession } from "../core/ShellSession.ts"

/**
 * Found in the syntax tree of a format that may need it: text that is not plain, an escape of a byte, `%b`, `%(...)T`
 * and `%g`.
 */
const NEEDED = /Expansion|Substitution|Escaped|\\\\[0-7xuU]|[^\0-\x7f]|%b|\)T|%[-+ 0#.\d]*[gG]/

export const rewritePrintCalls = (script: ScriptNode): void =>
  walk(script, (node) => {
    const command = node as unknown as CommandNode
    const name = nameOf(command)
    if (command.type !== "SimpleCommand" || (name !== "echo" && name !== "printf")) return
    const part = command.args[0]?.parts[0]
    const first = part?.type === "Literal" ? part.value : ""
    const isNeeded =
      name === "echo"
        ? /^-[nE]*e[neE]*$/.test(first)
        : first !== "-v" && NEEDED.test(JSON.stringify(command.args[first === "--" ? 1 : 0] ?? ""))
    if (isNeeded) command.name = { type: "Word", parts: [{ type: "Literal", value: MARK + name }] }
  })

export const printCommands = ({ clock }: ShellSession): ReadonlyArray<Command> => [
  defineCommand(`${MARK}echo`, async ([flags = "", ...words], context) =>
    printBytes(context, flags.includes("n") ? "%b" : "%b\\n", [
      // `%b` would read `\1` as an escape; `echo -e` does not.
      words.join(" ").replace(/\\(\\|[1-7])/g, (all, next) => (next === "\\" ? all : `\\\\${next}`))
    ])
  ),
  defineCommand(`${MARK}printf`, async (all, context) => {
    const [format, ...values] = all[0] === "--" ? all.slice(1) : all
    return printBytes(context, format, /%-?\d*\([^)]*\)T/.test(format ?? "") ? replaceNow(values, clock.now) : values)
  })
]

/** Runs the original on characters that stand for bytes. It would read and write the bytes as text. */
const printBytes = async (
  { cwd, env, exec }: ResolvedCommandContext,
  format: string | undefined,
  values: ReadonlyArray<string>
): Promise<CommandResult> => {
  const kinds = conversionsOf(format ?? "")
  const missing = kinds.slice(values.length % kinds.length || (values.length === 0 ? 0 : kinds.length))
  const given = missing.some(isGeneral) ? [...values, ...missing.map((kind) => (isGeneral(kind) ? "0" : ""))] : values
  const shown = given.map((value, at) => {
    const kind = kinds[at % kinds.length] ?? ""
    return isGeneral(kind) ? formatGeneral(kind, value) : hideBytes(value, kind === "b" ? INSIDE : undefined)
  })
  const args = format === undefined ? [] : ["--", hideBytes(format.replace(GENERAL, asText), OUTSIDE), ...shown]
  const result = await exec!("printf", { args, cwd, env: { TZ: env.get("TZ") ?? "UTC" } })
  const stdout = result.stdout.replace(HIDDEN, (one) => String.fromCharCode(one.charCodeAt(0) - BYTES))
  return { stdout, stderr: result.stderr, exitCode: result.exitCode, stdoutKind: "bytes" }
}

/** Escapes of a byte or a character in a format, and in an argument of `%b`. */
const OUTSIDE = /\\(?:[\\eE]|([0-7]{1,3})|x([\da-fA-F]{1,2})|u([\da-fA-F]{1,4})|U([\da-fA-F]{1,8}))/g
const INSIDE = /\\(?:[\\eE]|(0[0-7]{0,3}|[1-7][0-7]{0,2})|x([\da-fA-F]{1,2})|u([\da-fA-F]{1,4})|U([\da-fA-F]{1,8}))/g
/** Bytes from 128 on, in a range of Unicode for private use. */
const BYTES = 0xe000
const HIDDEN = /[\ue080-\ue0ff]/g

const hideBytes = (text: string, escapes: RegExp | undefined): string => {
  const spelled =
    escapes === undefined
      ? toLatin1(text)
      : toLatin1(text).replace(escapes, (all: string, octal?: string, hex?: string, short?: string, long?: string) => {
          if (/e$/i.test(all) && all.length === 2) return "\x1b"
          const code = octal === undefined ? parseInt(hex ?? short ?? long ?? "", 16) : parseInt(octal, 8) & 0xff
          if (!(code > 0x7f)) return all
          return short === undefined && long === undefined
            ? String.fromCharCode(code)
            : toLatin1(String.fromCodePoint(Math.min(code, 0x10ffff)))
        })
  return spelled.replace(/[\x80-\xff]/g, (one) => String.fromCharCode(BYTES + one.charCodeAt(0)))
}

const toLatin1 = (text: string): string => latin1FromBytes(encodeUtf8ToBytes(text))

/**
 * Returns the letters of a format's conversions, one for each argument that they take; for `%g` the whole conversion.
 */
const conversionsOf = (format: string): ReadonlyArray<string> =>
  [...format.replaceAll("%%", "").matchAll(/%([^a-zA-Z(]*)(.)/g)].flatMap(([all, flags, kind]) =>
    isGeneral(all) ? [all] : [...flags!.replace(/[^*]/g, ""), kind!]
  )

const GENERAL = /%%|%([-+ 0#]*)(\d*)(?:\.(\d*))?([gG])/g
const isGeneral = (conversion: string): boolean => /^%[-+ 0#]*\d*(?:\.\d*)?[gG]$/.test(conversion)
const asText = (all: string, flags = "", width = ""): string =>
  all === "%%" ? all : `%${flags.includes("-") ? "-" : ""}${width}s`

/** Returns a value as `%g` shows it, but without the blanks up to its width. */
const formatGeneral = (conversion: string, value: string): string => {
  const [, flags = "", width = "", precision, kind] = new RegExp(GENERAL.source).exec(conversion)!
  const number = /^["']/.test(value) ? (value.codePointAt(1) ?? 0) : Number(value)
  return formatNumber(number || 0, { flags, width, precision, kind: kind! })
}

/** Replaces the arguments of `%(%T)T` that mean now: none at all, or -1. */
const replaceNow = (values: ReadonlyArray<string>, now: number): ReadonlyArray<string> => {
  const seconds = String(Math.floor(now / 1000))
  return values.length === 0 ? [seconds] : values.map((value) => (value === "-1" ? seconds : value))
}
