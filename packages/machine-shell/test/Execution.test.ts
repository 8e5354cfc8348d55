/** Commands run as in bash, on the machine's clock. A hostile command ends by itself. */
import { describe, expect, it } from "@effect/vitest"
import { execute } from "../src/Execution.ts"
import type { Timeline } from "../src/Shell.ts"
import { runOf, START } from "@sluice/testing/fixtures/ShellRuns"
import { stories } from "./support/Stories.ts"

const text = (timeline: Timeline) => timeline.chunks.map((chunk) => Buffer.from(chunk.bytes).toString()).join("")
/** Returns the second and the text of each write, then the second and the code of the exit. */
const storyOf = (timeline: Timeline) => [
  ...timeline.chunks.map((chunk) => [(chunk.at - START) / 1000, Buffer.from(chunk.bytes).toString()] as const),
  timeline.exit === null ? "runs on" : [(timeline.exit.at - START) / 1000, timeline.exit.code]
]

describe("a command runs as in bash", () => {
  for (const [title, command, story] of stories) {
    it(title, async () => {
      expect(storyOf(await execute(runOf(command)))).toEqual(story)
    })
  }
})

describe("a run", () => {
  const mixed =
    "echo $RANDOM $((RANDOM % 100)); shuf -i 1-9; mktemp; date +%N; sleep 3; (sleep 1; echo $RANDOM) & wait; echo x > f; stat f; nvidia-smi -L"

  it("gives the same timeline each time, and another one with another seed", async () => {
    const first = await execute(runOf(mixed))
    expect(await execute(runOf(mixed))).toEqual(first)
    expect(text(await execute(runOf(mixed, { seed: 8 })))).not.toBe(text(first))
  })

  it("that is cut at a moment gives the same timeline up to then", async () => {
    const command = "for i in $(seq 10); do echo $i; echo $i >> f; sleep 1; done"
    const whole = await execute(runOf(command, { keepFiles: true }))
    const cut = await execute(runOf(command, { keepFiles: true, untilMs: START + 4_500 }))
    expect(cut.exit).toBe(null)
    expect(cut.chunks).toEqual(whole.chunks.filter((chunk) => chunk.at <= START + 4_500))
    expect(cut.files).toEqual([
      { _tag: "File", path: "f", mode: 0o644, bytes: new Uint8Array(Buffer.from("1\n2\n3\n4\n5\n")) }
    ])
  })

  it("leaves the entries that it mounts", async () => {
    const files = [
      { _tag: "File", path: "a b/\u00e4", mode: 0o600, bytes: new Uint8Array([0, 255, 10]) },
      { _tag: "Directory", path: "empty", mode: 0o700 },
      { _tag: "Link", path: "link", target: "../etc" }
    ] as const
    const { files: left } = await execute(runOf("true", { files, keepFiles: true }))
    expect(left).toEqual([{ _tag: "Directory", path: "a b", mode: 0o755 }, ...files])
  })

  it("reads nothing of the host", async () => {
    const shown = text(
      await execute(
        runOf(
          "env; cat /etc/passwd /proc/1/environ; ls -a / ~ ..; cat /proc/version; curl http://127.0.0.1; echo $$ $PPID"
        )
      )
    )
    expect(shown).not.toContain(process.cwd())
    expect(shown).not.toContain(String(process.pid))
    expect(shown).toContain("curl: command not found")
  })
})

describe("a hostile command ends by itself", () => {
  const hostile: ReadonlyArray<readonly [command: string, code: number, says: RegExp]> = [
    ["while true; do :; done", 126, /too many commands/],
    [":(){ :|:& };:", 126, /depth/],
    ["f() { f; }; f", 126, /recursion depth/],
    ["printf '%0500000000d' 1", 126, /limit exceeded/],
    ["x=a; while true; do x=$x$x; done", 126, /limit exceeded/],
    ["yes", 137, /killed: more than 67108864 bytes of output/],
    ["awk 'BEGIN { while (1) {} }'", 126, /maximum iterations/],
    [`${Array.from({ length: 40 }, (_, at) => `f${at}(){ `).join("")}:${"; }".repeat(40)}; echo ok`, 0, /^ok\n$/],
    ["[[ aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa! =~ ^(a+)+$ ]]", 1, /^$/]
  ]
  for (const [command, code, says] of hostile) {
    it(command, async () => {
      const timeline = await execute(runOf(command))
      expect(timeline.exit?.code).toBe(code)
      expect(text(timeline).slice(-200)).toMatch(says)
      expect(text(timeline)).not.toContain("executionLimits")
    })
  }

  it("and its output stays bounded", async () => {
    const size = (await execute(runOf("yes"))).chunks.reduce((sum, chunk) => sum + chunk.bytes.length, 0)
    expect(size).toBeLessThan(64 * 1024 * 1024 + 100)
  })
})
