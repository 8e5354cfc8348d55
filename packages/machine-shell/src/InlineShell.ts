/**
 * The shell in this thread, for trusted commands and tests: an endless loop holds up everything else for seconds, and what
 * the interpreter asks of the host behind our back (the date format of `ls -l`, `awk`'s `rand()`) is the host's.
 * Apart from the port, so that who runs commands in threads does not load an interpreter beside.
 */
import { Effect, Layer } from "effect"
import { execute } from "./Execution.ts"
import { Shell } from "./Shell.ts"

export const layer = Layer.succeed(Shell, {
  run: (run) => Effect.promise(() => execute(run))
})
