/** A yes or no from whoever sits at the terminal; asked on standard error, so that a pipe gets data alone. */
import * as Effect from "effect/Effect"
import { createInterface } from "node:readline"

/** Enter means yes; an end of input means no. Ask only where `Output.interactive`. */
export const confirm = (question: string): Effect.Effect<boolean> =>
  Effect.callback((resume) => {
    const lines = createInterface({ input: process.stdin, output: process.stderr })
    lines.once("close", () => resume(Effect.succeed(false)))
    // Readline takes Ctrl-C for itself while it reads.
    lines.once("SIGINT", () => process.kill(process.pid, "SIGINT"))
    lines.question(`${question} [Y/n] `, (answer) => {
      resume(Effect.succeed(/^(y|yes)?$/i.test(answer.trim())))
      lines.close()
    })
    return Effect.sync(() => lines.close())
  })
