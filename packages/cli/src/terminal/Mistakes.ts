/** Renders the parser's errors, one line for each mistake, with the expected form. */
import type * as CliError from "effect/cli/CliError"

type Mistake = CliError.CliError | CliError.ShowHelp["errors"][number]

export const mistakeTexts = (mistakes: ReadonlyArray<Mistake>): ReadonlyArray<string> => {
  const texts = mistakes.map(({ message }) =>
    message
      .replace(/\n\n +/, " ")
      .replace(/\n +/g, " ")
      .replace("Expected a string representing a finite number", "Expected a number")
  )
  return mistakes.some(mayBelongToJob) ? [...texts, AFTER_DASHES] : texts
}

const AFTER_DASHES = "Flags of the command itself come after --, as in: sluice jobs run --gpu H100 -- ls -la"

/** True if the unknown flag may belong to the command of the job. */
const mayBelongToJob = (mistake: Mistake): boolean =>
  mistake._tag === "UnrecognizedOption" && ["run", "quote"].includes(mistake.command?.at(-1) ?? "")
