/**
 * The commands that a program of awk prints to. What is printed to one lies in a file until the command is closed, where a
 * mark stands in the output for what it says, or the program is through. Behind a `close` the command is begun anew.
 */
import type { ResolvedCommandContext } from "just-bash"

const DIRECTORY = "/proc/self/fd/.awk"
/** Counts how often a command was closed; nothing before the first time. */
const COUNT = "SHELL_CLOSED_"
// oxlint-disable-next-line no-control-regex
const MARK = /\u0003(\d+) (\d*)\u0004/g

/** The file of the command of that number, as awk says it. */
export const placeOf = (pipe: number): string => `("${DIRECTORY}${pipe}-" ${COUNT}${pipe})`

/** What closes it, as awk says it. */
export const pipeEnd = (pipe: number): string =>
  `{ printf "\u0003${pipe} %s\u0004", ${COUNT}${pipe}; ${COUNT}${pipe} += 1 }`

/** The output with what the commands say, each where it was closed, and at the end those that were not. */
export const withPipes = async (
  said: { readonly stdout: string; readonly stderr: string },
  pipes: ReadonlyArray<string>,
  { cwd, exec, exportedEnv: env = {}, fs, signal }: ResolvedCommandContext
) => {
  let [stdout, stderr, from] = ["", said.stderr, 0]
  const closed = pipes.map(() => "")
  const run = async (pipe: number, count: string) => {
    const place = `${DIRECTORY}${pipe}-${count}`
    const stdin = await fs.readFile(place, "binary").catch(() => undefined)
    if (stdin === undefined) return
    await fs.rm(place)
    const read = await exec!(pipes[pipe]!, { cwd, env, stdin, stdinKind: "bytes", signal: signal! })
    stdout += read.stdout
    stderr += read.stderr
  }
  for (const { 0: mark, 1: pipe, 2: count, index } of said.stdout.matchAll(MARK)) {
    stdout += said.stdout.slice(from, index)
    from = index + mark.length
    await run(Number(pipe), count!)
    closed[Number(pipe)] = String(Number(count) + 1)
  }
  stdout += said.stdout.slice(from)
  for (const [pipe, count] of closed.entries()) await run(pipe, count)
  return { stdout, stderr }
}
