/**
 * The tools of bash scripts write what the real ones write, as the table has it, and stay within the limits of the
 * machine.
 */
import { describe, expect, it } from "@effect/vitest"
import { execute } from "../src/Execution.ts"
import type { Timeline } from "../src/Shell.ts"
import { runOf, START } from "@sluice/testing/fixtures/ShellRuns"
import { toolStories } from "./support/ToolStories.ts"

const outcomeOf = (timeline: Timeline) => [
  timeline.chunks.map((chunk) => Buffer.from(chunk.bytes).toString()).join(""),
  timeline.exit?.code
]

describe("a tool gives the output of the real one", () => {
  for (const [title, command, output, code = 0] of toolStories) {
    it(title, async () => {
      expect(outcomeOf(await execute(runOf(command)))).toEqual([output, code])
    })
  }
})

it("xargs -P starts a command when a slot becomes free", async () => {
  const command =
    "seq 5 | xargs -P2 -I{} bash -c 'sleep {}; date +%s'; timeout 2 xargs -P2 -n1 sleep <<< '5 5 1'; echo $?"
  const timeline = await execute(runOf(command))
  const seconds = [1, 2, 4, 6, 9].map((at) => `${START / 1000 + at}\n`).join("")
  expect(outcomeOf(timeline)).toEqual([`${seconds}124\n`, 0])
  expect(timeline.exit?.at).toBe(START + 11_000)
})

describe("a command beyond a limit of the machine is refused", () => {
  const refused: ReadonlyArray<readonly [command: string, code: number, says: RegExp]> = [
    ["head -c 10G /dev/zero | wc -c", 0, /^head: more than this simulated machine holds: 134217728 bytes\n0\n$/],
    ["head -c 10G < /dev/zero > f", 1, /^head: more than this simulated machine holds/],
    ["dd if=/dev/zero of=f bs=1M count=129; ls", 0, /^dd: error writing 'f': No space left on device\n$/],
    ["dd if=/dev/zero of=f bs=1M", 1, /^dd: error writing 'f': No space left on device\n$/],
    ["truncate -s 1G f; ls", 0, /^truncate: failed to truncate 'f' at 1073741824 bytes: File too large\n$/],
    ["head -c 120M /dev/zero > f; head -c 9M /dev/zero > g; ls", 1, /^bash: No space left on device\n$/],
    ["cat /dev/urandom | wc -c", 0, /^262147\n$/],
    ["echo {1..300000}", 126, /^bash: brace expansion result limit exceeded/]
  ]
  for (const [command, code, says] of refused) {
    it(command, async () => {
      const [text, ended] = outcomeOf(await execute(runOf(command)))
      expect(text).toMatch(says)
      expect(ended).toBe(code)
    })
  }
})
