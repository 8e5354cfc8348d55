/** Reads CPU time from /proc: user and system seconds of a process, with all its threads. */
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

/** CPU seconds of processes so far, ended children included, because connections come and go. */
export const cpuSeconds = (pids: ReadonlyArray<number>): number =>
  pids.reduce((sum, pid) => {
    const ticks = fields(pid).slice(11, 15)
    return sum + ticks.reduce((all, own) => all + Number(own), 0) / TICKS_PER_SECOND
  }, 0)

/** A process and its descendants. */
export const withDescendants = (root: number): ReadonlyArray<number> => {
  const parents = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), Number(fields(Number(name))[1] ?? 0)] as const)
  const found = [root]
  for (let i = 0; i < found.length; i++) for (const [pid, parent] of parents) if (parent === found[i]) found.push(pid)
  return found
}

/** The process of the PostgreSQL server behind this connection, with all its backends. */
export const postgresPids = (backend: number): ReadonlyArray<number> => withDescendants(Number(fields(backend)[1] ?? 0))
