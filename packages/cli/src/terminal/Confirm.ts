/**
 * Asks the user at the terminal a yes-or-no question, on standard error, so that a pipe on standard output gets data
 * alone.
 */
import * as Effect from "effect/Effect"
import { createInterface } from "node:readline"

/** Enter means yes; end of input means no. Call it only if `Output.isInteractive`. */
export const confirm = (question: string): Effect.Effect<boolean> =>
  Effect.callback((resume) => {
    const lines = createInterface({ input: process.stdin, output: process.stderr })
    lines.once("close", () => resume(Effect.succeed(false)))
    // Readline takes Ctrl-C for itself while it reads; the process must get the signal.
    lines.once("SIGINT", () => process.kill(process.pid, "SIGINT"))
    lines.question(`${question} [Y/n] `, (answer) => {
      resume(Effect.succeed(/^(y|yes)?$/i.test(answer.trim())))
      lines.close()
    })
    return Effect.sync(() => lines.close())
  })
