/** CPU time of processes, from /proc: user and system seconds of each with all its threads. */
import { readdirSync, readFileSync } from "node:fs"

const TICKS_PER_SECOND = 100

const fields = (pid: number): ReadonlyArray<string> => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8")
    return text.slice(text.lastIndexOf(")") + 2).split(" ")
  } catch {
    return []
  }
}

/** Seconds that a process has used so far. */
export const cpuSeconds = (pids: ReadonlyArray<number>): number =>
  pids.reduce((sum, pid) => sum + (Number(fields(pid)[11] ?? 0) + Number(fields(pid)[12] ?? 0)) / TICKS_PER_SECOND, 0)

/** A process and all that descend from it. */
export const withDescendants = (root: number): ReadonlyArray<number> => {
  const parents = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), Number(fields(Number(name))[1] ?? 0)] as const)
  const found = [root]
  for (let i = 0; i < found.length; i++) for (const [pid, parent] of parents) if (parent === found[i]) found.push(pid)
  return found
}

/** The PostgreSQL server that owns this connection's backend, with all its backends. */
export const postgresPids = (backend: number): ReadonlyArray<number> => withDescendants(Number(fields(backend)[1] ?? 0))
