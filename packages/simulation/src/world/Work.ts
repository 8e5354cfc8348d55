/**
 * What the jobs of a plan do, said twice: as a bash command that the simulated shell can run, and as the timeline that
 * comes of it, computed. Fleets of a month take the computed one; a test holds both against each other.
 */
import { Shell, type ShellRun, type Timeline, type VolumeEntry } from "@sluice/machine-shell/Shell"
import { Effect, Layer, Schema } from "effect"
import type { Submit } from "../plan/Plan.ts"

/** `lines` lines of `width` dots, one each `everyMs`, then the exit. A volume keeps who ran on it. */
export const Work = Schema.Struct({
  name: Schema.String,
  lines: Schema.Int,
  width: Schema.Int,
  everyMs: Schema.Int,
  exit: Schema.Int,
  volume: Schema.Boolean
})
export type Work = typeof Work.Type

const MAX_LINES = 24
const MARK = "# work: "
const FILE = "ran.txt"
const encoder = new TextEncoder()

export const workOf = (item: Submit): Work => {
  const lines = Math.max(1, Math.min(MAX_LINES, Math.ceil(item.outputBytes / 80)))
  return {
    name: item.id,
    lines,
    width: Math.max(1, Math.floor(item.outputBytes / lines) - item.id.length - 4),
    everyMs: Math.max(1, Math.floor(item.runMs / lines)),
    exit: item.exitCode,
    volume: item.volume !== null
  }
}

/** The command of the job. */
export const commandOf = (work: Work): string =>
  [
    `dots=$(printf '.%.0s' $(seq 1 ${work.width}))`,
    ...(work.volume ? [`echo ${work.name} >> ${FILE}`] : []),
    `for i in $(seq 1 ${work.lines}); do echo "${work.name} $i $dots"; sleep ${work.everyMs / 1_000}; done`,
    `exit ${work.exit}`,
    `${MARK}${JSON.stringify(work)}`
  ].join("\n")

const lineOf = (work: Work, i: number) => `${work.name} ${i} ${".".repeat(work.width)}\n`

/** All that the command writes when nothing stops it. */
export const outputOf = (work: Work): string =>
  Array.from({ length: work.lines }, (_, i) => lineOf(work, i + 1)).join("")

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Work))

/** The name of the job that runs this command. */
export const nameOf = (command: string): string => decode(command.slice(command.lastIndexOf(MARK) + MARK.length)).name

export const timelineOf = (run: ShellRun): Timeline => {
  const work = decode(run.command.slice(run.command.lastIndexOf(MARK) + MARK.length))
  const chunks: Array<{ readonly at: number; readonly bytes: Uint8Array }> = []
  for (let i = 0; i < work.lines; i++) {
    const at = run.startedAt + i * work.everyMs
    if (at >= run.untilMs) break
    chunks.push({ at, bytes: encoder.encode(lineOf(work, i + 1)) })
  }
  const exitAt = run.startedAt + work.lines * work.everyMs
  return {
    chunks,
    exit: exitAt < run.untilMs ? { at: exitAt, code: work.exit } : null,
    files: run.keepFiles ? (work.volume ? appended(run.files, work.name) : run.files) : [],
    overran: false
  }
}

const appended = (files: ReadonlyArray<VolumeEntry>, name: string): ReadonlyArray<VolumeEntry> => {
  const old = files.find((entry) => entry.path === FILE)
  const before = old?._tag === "File" ? old.bytes : new Uint8Array()
  const line = encoder.encode(`${name}\n`)
  const bytes = new Uint8Array(before.length + line.length)
  bytes.set(before)
  bytes.set(line, before.length)
  return [...files.filter((entry) => entry.path !== FILE), { _tag: "File", path: FILE, mode: 0o644, bytes }]
}

/** Computes the timeline instead of running the command. */
export const layer = Layer.succeed(Shell, { run: (run) => Effect.sync(() => timelineOf(run)) })
