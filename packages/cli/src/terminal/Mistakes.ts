/** What is wrong with the arguments, one line for each mistake, in words that say what to write instead. */
import type * as CliError from "effect/cli/CliError"

type Mistake = CliError.CliError | CliError.ShowHelp["errors"][number]

export const mistakeTexts = (mistakes: ReadonlyArray<Mistake>): ReadonlyArray<string> => {
  const texts = mistakes.map(({ message }) =>
    message
      .replace(/\n\n +/, " ")
      .replace(/\n +/g, " ")
      .replace("Expected a string representing a finite number", "Expected a number")
  )
  return mistakes.some(isOfTheJob) ? [...texts, AFTER_DASHES] : texts
}

const AFTER_DASHES = "Flags of the command itself come after --, as in: sluice jobs run --gpu H100 -- ls -la"

/** A flag that the command to run may have. */
const isOfTheJob = (mistake: Mistake): boolean =>
  mistake._tag === "UnrecognizedOption" && ["run", "quote"].includes(mistake.command?.at(-1) ?? "")
