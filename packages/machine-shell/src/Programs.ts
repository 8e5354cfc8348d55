/**
 * Programs that the machines of a world have beside their own: bash scripts that stand in for `python`, `git` and whatever
 * else a command calls. They are part of what a machine was launched with, so it plays the same after its scenario changed.
 */
import { parse } from "just-bash"
import { readable } from "./repairs/Arithmetic.ts"

/** Scripts by the names that commands call them by. */
export type Programs = Readonly<Record<string, string>>

const MAX_PROGRAMS = 50
/** Characters of all together: each launch keeps them. */
const MAX_CHARACTERS = 65_536

/** Commands of every machine that run others. */
export const RUNNERS: ReadonlyArray<string> = ["bash", "sh", "timeout", "nohup", "nice", "stdbuf", "yes"]

/** What the shell does itself, and what programs are run by. */
const TAKEN: ReadonlySet<string> = new Set([
  ...RUNNERS,
  ...(
    "[ alias bg break builtin caller case cd command compgen complete compopt continue coproc declare dirs disown do done " +
    "echo elif else enable env esac eval exec exit export false fc fg fi for function getopts hash help history if in jobs " +
    "kill let local logout mapfile popd printf pushd pwd read readarray readonly return select set shift shopt " +
    "sleep source suspend test then time times trap true type typeset ulimit umask unalias unset until wait " +
    "while xargs"
  ).split(" ")
])

/** What a name may be made of. */
export const NAME = /^[A-Za-z0-9_][\w.+-]{0,63}$/

/** All that is wrong with programs whose names are made of what they may be. */
export const issuesOf = (programs: Programs): ReadonlyArray<string> => {
  const entries = Object.entries(programs)
  const characters = entries.reduce((sum, [, text]) => sum + text.length, 0)
  return [
    ...(entries.length > MAX_PROGRAMS ? [`programs must be ${MAX_PROGRAMS} at most, not ${entries.length}`] : []),
    ...(characters > MAX_CHARACTERS
      ? [`programs must have ${MAX_CHARACTERS} characters at most together, not ${characters}`]
      : []),
    ...entries.flatMap(([name, text]) => {
      if (TAKEN.has(name)) return [`programs.${name} has a name that the shell itself needs; give it another`]
      const wrong = text.length > MAX_CHARACTERS ? undefined : syntaxOf(text)
      return wrong === undefined ? [] : [`programs.${name} must be a bash script: ${wrong}`]
    })
  ]
}

/** Why it is no script. */
const syntaxOf = (text: string): string | undefined => {
  try {
    parse(readable(text))
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
