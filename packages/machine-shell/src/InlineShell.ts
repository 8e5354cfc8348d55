/**
 * The shell in this thread, for trusted commands and tests. An endless loop blocks the thread for seconds, and reads of
 * the host by the interpreter itself are not replaced. This module is apart from the port, so that a process which runs
 * commands in worker threads does not load the interpreter.
 */
import { Effect, Layer } from "effect"
import { execute } from "./Execution.ts"
import { Shell } from "./Shell.ts"

export const layer = Layer.succeed(Shell, {
  run: (run) => Effect.promise(() => execute(run))
})
