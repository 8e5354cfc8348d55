/** Background jobs, signals and waiting are bash's. */
import { expect, it } from "@effect/vitest"
import { execute } from "../../src/shell/Execution.ts"
import { runOf, START } from "../support/Runs.ts"

it("a job that never ends by itself leaves commands for the script", async () => {
  const command =
    "( while true; do nvidia-smi >/dev/null; sleep 1; done ) & p=$!; sleep 10; kill $p; wait $p; echo trained $?"
  const { chunks, exit } = await execute(runOf(command, { untilMs: Infinity }))
  expect(chunks.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual(["trained 143\n"])
  expect(exit).toEqual({ at: START + 10_000, code: 0 })
})
