/**
 * Identifies a process beyond its pid, which the system reuses: the pid, the start time and the place where pids are
 * counted (this boot, this pid namespace) name one process for ever.
 */
import { spawnSync } from "node:child_process"
import { readFileSync, readlinkSync } from "node:fs"
import { hostname } from "node:os"

export interface ProcessIdentity {
  /** The space in which the pid is unique: boot and pid namespace, or the host's name. */
  readonly place: string
  /** Empty when no such process exists. Compare it as text only. */
  readonly startedAt: string
}

export const processIdentity = (pid: number): ProcessIdentity => ({ place: place(), startedAt: startOf(pid) })

const place = (): string => {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()
    return `${boot}|${readlinkSync("/proc/self/ns/pid")}`
  } catch {
    return `${hostname()}|`
  }
}

const startOf = (pid: number): string => {
  try {
    process.kill(pid, 0)
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause && cause.code === "EPERM")) return ""
  }
  try {
    // Field 22 of the line. Fields are counted after the command's closing parenthesis, because the command may contain
    // any text.
    const line = readFileSync(`/proc/${pid}/stat`, "utf8")
    const fields = line.slice(line.lastIndexOf(")") + 2).split(" ")
    const ended = fields[0] === "Z" || fields[0] === "X"
    return ended ? "" : (fields[19] ?? "")
  } catch {
    return spawnSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" }).stdout?.trim() ?? ""
  }
}
