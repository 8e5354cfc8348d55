/** What the terminal can do, read once at the start. Pure: whoever starts the process gives arguments and variables. */

export interface Facts {
  readonly json: boolean
  readonly colours: boolean
  readonly live: boolean
  readonly interactive: boolean
  readonly stdoutTerminal: boolean
  readonly columns: number
}

interface Given {
  readonly args: ReadonlyArray<string>
  readonly variables: Readonly<Record<string, string | undefined>>
  readonly stdin: boolean
  readonly stdout: boolean
  readonly stderr: boolean
  readonly columns: number | undefined
}

const DEFAULT_COLUMNS = 80

export const factsOf = ({ args, variables, stdin, stdout, stderr, columns }: Given): Facts => {
  const json = wantsJson(args)
  const dumb = variables.TERM === "dumb"
  const live = stderr && !dumb && !json
  return {
    json,
    colours: coloursOf(variables, stdout && stderr && !dumb),
    live,
    interactive: live && stdin,
    stdoutTerminal: stdout,
    // Some terminals do not know their size and say 0.
    columns: columns || DEFAULT_COLUMNS
  }
}

/** Before `--`, wherever it stands. Known this early so that a mistake in the arguments is told as JSON too. */
const wantsJson = (args: ReadonlyArray<string>): boolean => {
  const end = args.indexOf("--")
  return (end === -1 ? args : args.slice(0, end)).some((arg) => arg === "--json" || arg === "--json=true")
}

/** NO_COLOR and FORCE_COLOR as no-color.org and Node have them; an empty variable counts as unset. */
const coloursOf = (variables: Given["variables"], terminal: boolean): boolean => {
  const { NO_COLOR, FORCE_COLOR } = variables
  if (NO_COLOR !== undefined && NO_COLOR !== "") return false
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== "") return FORCE_COLOR !== "0"
  return terminal
}
