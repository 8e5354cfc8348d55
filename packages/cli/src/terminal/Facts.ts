/**
 * Describes the terminal: colours, redrawing, questions, width; read once at the start. Pure: the caller gives
 * arguments and variables.
 */

export interface Facts {
  readonly isJson: boolean
  readonly hasColours: boolean
  readonly isLive: boolean
  readonly isInteractive: boolean
  readonly isStdoutTerminal: boolean
  readonly columns: number
}

interface Inputs {
  readonly args: ReadonlyArray<string>
  readonly variables: Readonly<Record<string, string | undefined>>
  readonly isStdinTerminal: boolean
  readonly isStdoutTerminal: boolean
  readonly isStderrTerminal: boolean
  readonly columns: number | undefined
}

const DEFAULT_COLUMNS = 80

export const factsOf = ({
  args,
  variables,
  isStdinTerminal,
  isStdoutTerminal,
  isStderrTerminal,
  columns
}: Inputs): Facts => {
  const isJson = wantsJson(args)
  const isDumb = variables.TERM === "dumb"
  const isLive = isStderrTerminal && !isDumb && !isJson
  return {
    isJson,
    hasColours: wantsColours(variables, isStdoutTerminal && isStderrTerminal && !isDumb),
    isLive,
    isInteractive: isLive && isStdinTerminal,
    isStdoutTerminal,
    // Some terminals do not know their width and report 0.
    columns: columns || DEFAULT_COLUMNS
  }
}

/**
 * True if `--json` stands before `--`, in any position. Read before the parser runs, so that parse errors are JSON too.
 */
const wantsJson = (args: ReadonlyArray<string>): boolean => {
  const end = args.indexOf("--")
  return (end === -1 ? args : args.slice(0, end)).some((arg) => arg === "--json" || arg === "--json=true")
}

/** Follows NO_COLOR (no-color.org) and FORCE_COLOR (Node); an empty variable counts as unset. */
const wantsColours = (variables: Inputs["variables"], isTerminal: boolean): boolean => {
  const { NO_COLOR, FORCE_COLOR } = variables
  if (NO_COLOR !== undefined && NO_COLOR !== "") return false
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== "") return FORCE_COLOR !== "0"
  return isTerminal
}
