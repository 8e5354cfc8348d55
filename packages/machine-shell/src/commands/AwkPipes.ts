/**
 * Runs the commands that an awk program prints to. The text for a command lies in a file until the program closes the
 * command or ends. Where it closes a command, a mark in its output shows the place of the command's output. Text behind
 * a `close` starts the command again.
 */
import type { ResolvedCommandContext } from "just-bash"

const DIRECTORY = "/proc/self/fd/.awk"
/**
 * Begins the names of the awk variables that count how often a command was closed. They are empty before the first
 * time.
 */
const COUNT = "SHELL_CLOSED_"
// oxlint-disable-next-line no-control-regex
const MARK = /\u0003(\d+) (\d*)\u0004/g

/** Returns the awk expression of the file of a command. */
export const fileOf = (pipe: number): string => `("${DIRECTORY}${pipe}-" ${COUNT}${pipe})`

/** Returns the awk statement that closes a command. */
export const closeStatementOf = (pipe: number): string =>
  `{ printf "\u0003${pipe} %s\u0004", ${COUNT}${pipe}; ${COUNT}${pipe} += 1 }`

/**
 * Runs the commands on their files. Returns the output with each mark replaced by its command's output. Commands that
 * were not closed come at the end.
 */
export const runPipes = async (
  output: { readonly stdout: string; readonly stderr: string },
  pipes: ReadonlyArray<string>,
  { cwd, exec, exportedEnv: env = {}, fs, signal }: ResolvedCommandContext
) => {
  let [stdout, stderr, from] = ["", output.stderr, 0]
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
  for (const { 0: mark, 1: pipe, 2: count, index } of output.stdout.matchAll(MARK)) {
    stdout += output.stdout.slice(from, index)
    from = index + mark.length
    await run(Number(pipe), count!)
    closed[Number(pipe)] = String(Number(count) + 1)
  }
  stdout += output.stdout.slice(from)
  for (const [pipe, count] of closed.entries()) await run(pipe, count)
  return { stdout, stderr }
}
