/**
 * Runs every command of the README's tour, in order, against a server with default settings, and compares the output with the
 * README. Ids, times, amounts and counts may differ, and lines of a log may interleave in another order.
 */
import { execFile } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { usd } from "../../packages/cli/src/terminal/Amounts.ts"
import { freePort, NODE, ServerProcess, temporaryDirectory, TEST_KEY } from "@sluice/testing/servers/ServerProcess"

const root = join(import.meta.dirname, "..", "..")
const readme = readFileSync(join(root, "README.md"), "utf8")

interface Step {
  readonly command: string
  readonly output: string
}

/** The commands of all `console` blocks, each with its expected output. */
const steps: ReadonlyArray<Step> = [...readme.matchAll(/^```console\n([\s\S]*?)^```$/gm)].flatMap(([, block]) =>
  block!
    .split(/^\$ /m)
    .slice(1)
    .map((step) => ({ command: step.slice(0, step.indexOf("\n")), output: step.slice(step.indexOf("\n") + 1) }))
)

/**
 * Replaces ids, times and amounts by constants and sorts the lines. A line that says `queued` is dropped: only a busy machine is
 * slow enough to show that state.
 */
const normalise = (text: string): ReadonlyArray<string> =>
  text
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "ID")
    .replaceAll(/job-[0-9a-f]{8}/g, "NAME")
    .replaceAll(/\d+m(?: \d+s)?|\d+(?:\.\d+)?s\b/g, "TIME")
    .replaceAll(/\$\d[\d.]*/g, "AMOUNT")
    .replaceAll(/ +/g, " ")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && line !== "TIME queued")
    .sort()

const directory = temporaryDirectory()
let server: ServerProcess
beforeAll(async () => {
  server = new ServerProcess({ port: await freePort(), data: directory.path, key: TEST_KEY })
  await server.start()
}, 300_000)
afterAll(async () => {
  await server.end("SIGTERM")
  directory.remove()
})

/** Runs a line of the README in a shell, with this server's address and the checkout's `sluice`. */
const run = (command: string): Promise<string> =>
  new Promise((resolve) => {
    const line = command.replaceAll("npx sluice", `'${NODE}' '${join(root, "packages/cli/src/main.ts")}'`)
    const here = line.replaceAll("http://127.0.0.1:8080", server.origin)
    const env = {
      PATH: process.env["PATH"],
      NO_COLOR: "1",
      SLUICE_API_KEY: TEST_KEY,
      SLUICE_INFRA_URL: `${server.origin}/api/v1`
    }
    execFile("bash", ["-c", `{ ${here}; } 2>&1`], { env, cwd: root }, (_error, stdout) => resolve(stdout))
  })

describe("The README", () => {
  it("has a tour", () => assert.isAtLeast(steps.length, 6))

  it.each(steps.filter((step) => !step.command.startsWith("export")))(
    "$command",
    { timeout: 300_000 },
    async (step) => {
      assert.deepStrictEqual(normalise(await run(step.command)), normalise(step.output))
    }
  )

  it("formats amounts as the CLI does", () => {
    const amounts = steps.flatMap(({ output }) => output.match(/\$\d[\d.,]*\d/g) ?? [])
    assert.isAtLeast(amounts.length, 10)
    for (const amount of amounts) assert.strictEqual(usd(Number(amount.replaceAll(/[$,]/g, ""))), amount)
  })

  it("links only to existing files and names only existing scripts", () => {
    for (const [, path] of readme.matchAll(/\]\(([^)#:]+)\)/g)) assert.isTrue(existsSync(join(root, path!)), path)
    const scripts: Readonly<Record<string, string>> = JSON.parse(
      readFileSync(join(root, "package.json"), "utf8")
    ).scripts
    for (const [, name] of readme.matchAll(/npm (?:run )?(start|test|check|bench)\b/g)) assert.property(scripts, name!)
  })
})
