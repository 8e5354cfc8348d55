/** What a job of a plan does is computed; here it is held against the shell that really runs its command. */
import { assert, it } from "@effect/vitest"
import { commandOf, outputOf, timelineOf, type Work } from "../../src/world/Work.ts"
import * as InlineShell from "@sluice/machine-shell/InlineShell"
import { Shell, type ShellRun, type Timeline } from "@sluice/machine-shell/Shell"
import { Effect } from "effect"

const run = (work: Work, more: Partial<ShellRun> = {}): ShellRun => ({
  command: commandOf(work),
  env: {},
  files: [],
  hostname: "machine",
  gpu: { name: "NVIDIA L40S", memoryMib: 46_068, powerWatts: 350, computeCapability: "8.9", count: 1 },
  seed: 1,
  startedAt: Date.UTC(2027, 0, 15),
  untilMs: Number.POSITIVE_INFINITY,
  keepFiles: work.volume,
  ...more
})

const plain = ({ chunks, exit, files }: Timeline) => ({
  text: chunks.map(({ at, bytes }) => `${at} ${new TextDecoder().decode(bytes)}`),
  exit,
  files: files.map((entry) => (entry._tag === "File" ? [entry.path, new TextDecoder().decode(entry.bytes)] : entry))
})

const quiet: Work = { name: "job-1", lines: 3, width: 5, everyMs: 1_500, exit: 0, volume: false }
const cases: ReadonlyArray<readonly [string, Work, Partial<ShellRun>]> = [
  ["a quiet job", quiet, {}],
  ["one that fails", { ...quiet, exit: 3, lines: 1 }, {}],
  ["a wide one", { ...quiet, width: 4_000, lines: 12, everyMs: 3_600_000 }, {}],
  ["one on a volume", { ...quiet, volume: true }, {}],
  [
    "one on a volume that was used",
    { ...quiet, volume: true },
    { files: [{ _tag: "File", path: "ran.txt", mode: 0o644, bytes: new TextEncoder().encode("job-0\n") }] }
  ],
  ["one that is cut short", { ...quiet, lines: 9 }, { untilMs: Date.UTC(2027, 0, 15) + 4_000 }]
]

for (const [title, work, more] of cases) {
  it.effect(`${title}: computed as run`, () =>
    Effect.gen(function* () {
      const shell = yield* Shell
      const ran = yield* shell.run(run(work, more))
      assert.deepStrictEqual(plain(timelineOf(run(work, more))), plain(ran))
      if (more.untilMs !== undefined) return
      const text = ran.chunks.map(({ bytes }) => new TextDecoder().decode(bytes)).join("")
      assert.strictEqual(text, outputOf(work))
    }).pipe(Effect.provide(InlineShell.layer))
  )
}
