/**
 * Adds lines to a log that explain a message of bash: a program that the simulated machine lacks, or Windows line ends. Each
 * explanation comes once in a run, right after the first message. No exit code changes.
 */

const LACKING =
  "simulated machine: a program is missing; it has bash and the usual text tools, but no Python, CUDA or network; " +
  "`programs` of a scenario can stand in for it\n"
const WINDOWS_LINES =
  "simulated machine: the script has Windows line ends (CRLF), which bash takes for a part of its words; save it with Unix " +
  "line ends (LF), as by `sed -i 's/\\r$//' FILE`\n"

/** A message of bash or `env` about a missing program. */
const MISSING =
  /^(?:bash: [^\n\r]*: (?:command not found|\/[^\n\r]*: bad interpreter: No such file or directory)|\/usr\/bin\/env: '[^\n\r\\]*': No such file or directory)$/m
/** A word with a carriage return, which bash prints quoted. */
const RETURNED = /^(bash: (?:[^\n]*: )?)([^\n:]*\r[^\n:]*)(: (?:command not found|No such file or directory))$/gm

/** True if the first line of a script has a Windows line end. Then all lines have. */
export const endsLikeWindows = (script: string): boolean => /^[^\n]*\r\n/.test(script)

export class Explanations {
  #lacking = false
  #windows = false

  /** Returns the output of bash with its explanation. */
  explain(text: string): string {
    if (!text.includes("\r") && (this.#lacking || !MISSING.test(text))) return text
    const shown = text.replace(RETURNED, (_, before: string, word: string, after: string) => {
      const quoted = word.replaceAll("\\", "\\\\").replaceAll("'", "\\'").replaceAll("\r", "\\r")
      return `${before}$'${quoted}'${after}`
    })
    const isWindows = shown !== text
    return shown + (isWindows ? this.windowsLines() : MISSING.test(text) ? this.lacking() : "")
  }

  lacking(): string {
    if (this.#lacking) return ""
    this.#lacking = true
    return LACKING
  }

  windowsLines(): string {
    if (this.#windows) return ""
    this.#windows = true
    return WINDOWS_LINES
  }
}

/** The interpreter's advice to its host to raise a limit. A reader of the log cannot follow it. */
const HINT = /, increase executionLimits\.\w+/g
const LIMIT = /^bash: [^\n]*(?:exceeded|too many|maximum)[^\n]*\((?:>|max )?(\d+)( bytes)?\)[^\n]*$/gm

/** Rewrites the message of an interpreter limit: it names the limit of the simulated machine. */
export const rewriteHints = (stderr: string): string =>
  stderr.replace(HINT, "").replace(LIMIT, (line, limit: string, bytes = "") => {
    const unit = bytes !== "" ? bytes : line.includes("commands executed") ? " commands" : ""
    return `${line}; simulated machine: limit of ${limit}${unit}`
  })
