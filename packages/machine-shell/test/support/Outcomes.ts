/** The output and the exit code of a command, compared with those of bash 5.2 for the same command. */
import { expect, it } from "@effect/vitest"
import { execute } from "../../src/Execution.ts"
import { runOf } from "@sluice/testing/fixtures/ShellRuns"

/** Returns the output in latin1, so that bytes that are no text stay distinct. */
export const outcome = async (command: string): Promise<readonly [output: string, code: number | undefined]> => {
  const { chunks, exit } = await execute(runOf(command))
  return [Buffer.concat(chunks.map(({ bytes }) => bytes)).toString("latin1"), exit?.code]
}

/** Adds a test for each command. `bash` is the output of bash. */
export const asBash = (cases: ReadonlyArray<readonly [command: string, bash: string, code?: number]>): void => {
  for (const [command, bash, code = 0] of cases)
    it(`gives bash's output: ${command}`, async () => expect(await outcome(command)).toEqual([bash, code]))
}
