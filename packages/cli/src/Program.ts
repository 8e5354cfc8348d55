/**
 * Runs one command line: parses the arguments, runs the command, and turns its result into an exit code. Requested help
 * goes to standard output. Mistakes in the arguments go to standard error with the usage line, and nothing goes to
 * standard output.
 */
import { VERSION } from "@sluice/api/Version"
import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as CliConfig from "effect/cli/CliConfig"
import * as CliError from "effect/cli/CliError"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import { Variables, withProxy } from "./connection/Connection.ts"
import { exitCodeOf, EXIT, type Failure, isFailure, UsageWrong } from "./connection/Failure.ts"
import { failureJson, failureText } from "./connection/FailureText.ts"
import { sluice } from "./Sluice.ts"
import { mistakeTexts } from "./terminal/Mistakes.ts"
import { Output } from "./terminal/Output.ts"

/** Runs the arguments and returns the exit code; never fails. */
export const program = (args: ReadonlyArray<string>, options: { readonly hasColours: boolean }) =>
  Effect.gen(function* () {
    const out = yield* Output
    const help = new Help(options.hasColours)
    const run = Command.runWith(sluice, { version: VERSION, renderErrors: false })(args).pipe(
      Effect.provideService(Console.Console, help.console),
      Effect.provide(Layer.mergeAll(CliOutput.layer(help.formatter), CliConfig.layer({ builtIns })))
    )
    const ended = yield* Effect.result(Effect.catchDefect(run, (defect) => Effect.fail(new Unforeseen(defect))))
    yield* out.progress("")
    if (Result.isSuccess(ended)) {
      yield* out.data(help.text)
      return 0
    }
    const error = ended.failure
    if (CliError.isCliError(error)) {
      const mistakes = error._tag === "ShowHelp" ? error.errors : [error]
      if (mistakes.length === 0) {
        yield* out.data(help.text)
        return 0
      }
      return yield* reportFailure(new UsageWrong({ issues: mistakeTexts(mistakes) }), help.usage)
    }
    if (isFailure(error)) return yield* reportFailure(error)
    const message = `unexpected error: ${error.text}`
    yield* out.fail(
      { code: "unforeseen", message },
      `sluice: ${message}\n        This is a bug in sluice. Please report it.`
    )
    return EXIT.failed
  })

const builtIns = [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions]

const reportFailure = Effect.fnUntraced(function* (failed: Failure, usage?: string) {
  const out = yield* Output
  const failure = failed._tag === "Unreachable" ? withProxy(failed, yield* Variables) : failed
  if (failure._tag !== "Ended") {
    yield* out.fail(failureJson(failure), failureText(failure))
    if (usage !== undefined) yield* out.say(usage)
  }
  return exitCodeOf(failure)
})

/** A defect (a bug of the command line), as one line of text. */
class Unforeseen {
  readonly text: string
  constructor(defect: unknown) {
    this.text = defect instanceof Error ? `${defect.name}: ${defect.message}` : Cause.pretty(Cause.die(defect))
  }
}

/** Keeps what the parser prints, because only the end of the run shows whether it belongs on standard output. */
class Help {
  text = ""
  usage = ""
  readonly formatter: CliOutput.Formatter
  readonly console: Console.Console

  constructor(colours: boolean) {
    const plain = CliOutput.defaultFormatter({ colors: colours })
    const keep = (...parts: ReadonlyArray<unknown>) => {
      this.text += `${parts.join(" ")}\n`
    }
    this.console = Object.assign(Object.create(globalThis.console), { log: keep, error: keep })
    this.formatter = {
      ...plain,
      formatHelpDoc: (doc) => {
        const command = doc.usage.split(/ [<[]/)[0] ?? "sluice"
        this.usage = `Usage: ${doc.usage}\nMore:  ${command} --help`
        // The help of `sluice` itself lists the global flags; the help of subcommands refers to it.
        if (command === "sluice") return plain.formatHelpDoc(doc)
        return `${plain.formatHelpDoc({ ...doc, globalFlags: [] })}\n\nFlags of every command, like --json: sluice --help`
      }
    }
  }
}
