/**
 * Who runs where: the server that is measured on the first core, the load and PostgreSQL on the others, as far as there are others
 * and the system can be told (`taskset`). Else a server is moved from core to core, and pays for what others leave in the caches.
 */
import { spawnSync } from "node:child_process"
import { availableParallelism } from "node:os"

const cores = availableParallelism()

/** This process and all that it starts from now on leave the first core alone; whether they do. */
const othersMoved =
  cores > 1 && spawnSync("taskset", ["-a", "-c", "-p", `1-${cores - 1}`, String(process.pid)]).status === 0

/** The command that runs `command` on the first core. */
export const onFirstCore = (...command: ReadonlyArray<string>): ReadonlyArray<string> =>
  othersMoved ? ["taskset", "-c", "0", ...command] : command
