/** Failed writes to standard output end every command with a failure exit code. */
import { spawn, type StdioOptions } from "node:child_process"
import { closeSync, existsSync, openSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { afterAll, describe, expect, it } from "vitest"

const MAIN = fileURLToPath(new URL("../src/main.ts", import.meta.url))
/** A device that refuses every byte. */
const FULL = "/dev/full"

describe.skipIf(!existsSync(FULL))("a device that is full", () => {
  const full = openSync(FULL, "w")
  afterAll(() => closeSync(full))

  it("a full device fails the command, with a message if standard error works", async () => {
    for (const args of [["--help"], ["--version"], ["jobs", "run", "--help"]]) {
      const { code, err } = await ended(args, ["ignore", full, "pipe"])
      expect([args, code]).toEqual([args, 1])
      expect(err).toMatch(/^sluice: the output can't be written: ENOSPC/)
    }
    expect((await ended(["jobs", "rnu"], ["ignore", "pipe", full])).code).toBe(1)
    expect((await ended(["jobs", "rnu"], ["ignore", full, "pipe"])).code).toBe(2)
  })
})

it("a closed pipe ends the command with the exit code of SIGPIPE", async () => {
  expect(await ended(["--help"], ["ignore", "pipe", "pipe"], true)).toEqual({ code: 141, err: "" })
})

const ended = (args: ReadonlyArray<string>, stdio: StdioOptions, isUnread = false) =>
  new Promise<{ readonly code: number | null; readonly err: string }>((resolve) => {
    const child = spawn(process.execPath, [MAIN, ...args], { stdio })
    let err = ""
    child.stderr?.on("data", (chunk) => (err += chunk))
    if (isUnread) child.stdout?.destroy()
    else child.stdout?.resume()
    child.on("close", (code) => resolve({ code, err }))
  })
