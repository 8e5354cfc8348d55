/**
 * Programs that the machines of a world have beside their own commands: bash scripts that stand in for `python`, `git`
 * and others. They are part of a machine's launch, so a machine behaves the same after its scenario changed.
 */
import { parse } from "just-bash"
import { rewriteForParser } from "./repairs/Arithmetic.ts"

/** Bash scripts by the names of the commands that they stand in for. */
export type Programs = Readonly<Record<string, string>>

const MAX_PROGRAMS = 50
/**
 * Characters of all programs together. Every launch stores them, so a higher limit costs memory and disk for each
 * machine.
 */
const MAX_CHARACTERS = 65_536

/** Commands of every machine that run other commands. */
export const RUNNERS: ReadonlyArray<string> = ["bash", "sh", "timeout", "nohup", "nice", "stdbuf", "yes"]

/** Names that a program cannot take: builtins and keywords of the shell, and the commands that run programs. */
const RESERVED: ReadonlySet<string> = new Set([
  ...RUNNERS,
  ...(
    "[ alias bg break builtin caller case cd command compgen complete compopt continue coproc declare dirs disown do done " +
    "echo elif else enable env esac eval exec exit export false fc fg fi for function getopts hash help history if in jobs " +
    "kill let local logout mapfile popd printf pushd pwd read readarray readonly return select set shift shopt " +
    "sleep source suspend test then time times trap true type typeset ulimit umask unalias unset until wait " +
    "while xargs"
  ).split(" ")
])

/** Matches the names that a program can have. */
export const NAME = /^[A-Za-z0-9_][\w.+-]{0,63}$/

/**
 * Returns every fault of a scenario's programs: their number, size, names and syntax. Each name must match `NAME`
 * already.
 */
export const issuesOf = (programs: Programs): ReadonlyArray<string> => {
  const entries = Object.entries(programs)
  const characters = entries.reduce((sum, [, text]) => sum + text.length, 0)
  return [
    ...(entries.length > MAX_PROGRAMS ? [`programs must be ${MAX_PROGRAMS} at most, not ${entries.length}`] : []),
    ...(characters > MAX_CHARACTERS
      ? [`programs must have ${MAX_CHARACTERS} characters at most together, not ${characters}`]
      : []),
    ...entries.flatMap(([name, text]) => {
      if (RESERVED.has(name)) return [`programs.${name} has a name that the shell itself needs; give it another`]
      const wrong = text.length > MAX_CHARACTERS ? undefined : syntaxOf(text)
      return wrong === undefined ? [] : [`programs.${name} must be a bash script: ${wrong}`]
    })
  ]
}

/** Returns the syntax error of a script, or undefined. */
const syntaxOf = (text: string): string | undefined => {
  try {
    parse(rewriteForParser(text))
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
