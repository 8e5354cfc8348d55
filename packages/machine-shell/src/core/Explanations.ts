/**
 * Lines of a log that say what a simulated machine lacks, or what is wrong with a script, beside the words of bash: each once in
 * a run, right after the first line that shows it. They change no exit code.
 */

const LACKING =
  "simulated machine: a program is missing; it has bash and the usual text tools, but no Python, CUDA or network; " +
  "`programs` of a scenario can stand in for it\n"
const WINDOWS_LINES =
  "simulated machine: the script has Windows line ends (CRLF), which bash takes for a part of its words; save it with Unix " +
  "line ends (LF), as by `sed -i 's/\\r$//' FILE`\n"

/** A program that is not there, as bash and `env` say it. */
const MISSING =
  /^(?:bash: [^\n\r]*: (?:command not found|\/[^\n\r]*: bad interpreter: No such file or directory)|\/usr\/bin\/env: '[^\n\r\\]*': No such file or directory)$/m
/** A word with a carriage return that bash shows as it would be quoted. */
const RETURNED = /^(bash: (?:[^\n]*: )?)([^\n:]*\r[^\n:]*)(: (?:command not found|No such file or directory))$/gm

/** Whether the first line of a script ends as on Windows: then all do. */
export const endsLikeWindows = (script: string): boolean => /^[^\n]*\r\n/.test(script)

export class Explanations {
  #lacking = false
  #windows = false

  /** What bash says, with what explains it. */
  explained(text: string): string {
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

/** The interpreter's advice to its host, of no use to who reads the log. */
const HINT = /, increase executionLimits\.\w+/g
const LIMIT = /^bash: [^\n]*(?:exceeded|too many|maximum)[^\n]*\((?:>|max )?(\d+)( bytes)?\)[^\n]*$/gm

/** The end of a run at a limit of the interpreter: it is the machine's, and has a number. */
export const plainly = (stderr: string): string =>
  stderr.replace(HINT, "").replace(LIMIT, (line, limit: string, bytes = "") => {
    const unit = bytes !== "" ? bytes : line.includes("commands executed") ? " commands" : ""
    return `${line}; simulated machine: limit of ${limit}${unit}`
  })
