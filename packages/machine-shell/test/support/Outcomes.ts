/** What a command writes and its exit code, beside those of bash 5.2 for the same command. */
import { expect, it } from "@effect/vitest"
import { execute } from "../../src/Execution.ts"
import { runOf } from "@sluice/testing/fixtures/ShellRuns"

/** In latin1, so that bytes that are no text are told apart. */
export const outcome = async (command: string): Promise<readonly [output: string, code: number | undefined]> => {
  const { chunks, exit } = await execute(runOf(command))
  return [Buffer.concat(chunks.map(({ bytes }) => bytes)).toString("latin1"), exit?.code]
}

/** `bash`: what bash says. */
export const asBash = (cases: ReadonlyArray<readonly [command: string, bash: string, code?: number]>): void => {
  for (const [command, bash, code = 0] of cases)
    it(command, async () => expect(await outcome(command)).toEqual([bash, code]))
}
