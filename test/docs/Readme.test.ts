/**
 * The README's tour is true: every command in it is run, in its order, against a server as it starts by default, and says what
 * the README says. Ids, times, amounts and counts may differ; a log's and a step's lines may interleave otherwise.
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

/** The commands of all `console` blocks, each with the output that follows it. */
const steps: ReadonlyArray<Step> = [...readme.matchAll(/^```console\n([\s\S]*?)^```$/gm)].flatMap(([, block]) =>
  block!
    .split(/^\$ /m)
    .slice(1)
    .map((step) => ({ command: step.slice(0, step.indexOf("\n")), output: step.slice(step.indexOf("\n") + 1) }))
)

/**
 * What may differ is made equal; lines are compared without their order. A job is `queued` for as long as its launch takes to be
 * answered: whoever asks within that time is told so, and on a busy machine that is this command.
 */
const told = (text: string): ReadonlyArray<string> =>
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
}, 120_000)
afterAll(async () => {
  await server.end("SIGTERM")
  directory.remove()
})

/** Runs a line of the README in a shell, at this server instead of the default address, with `sluice` of this checkout. */
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
    { timeout: 120_000 },
    async (step) => {
      assert.deepStrictEqual(told(await run(step.command)), told(step.output))
    }
  )

  it("writes amounts as the command does", () => {
    const amounts = steps.flatMap(({ output }) => output.match(/\$\d[\d.,]*\d/g) ?? [])
    assert.isAtLeast(amounts.length, 10)
    for (const amount of amounts) assert.strictEqual(usd(Number(amount.replaceAll(/[$,]/g, ""))), amount)
  })

  it("links to files that exist, and names commands that do", () => {
    for (const [, path] of readme.matchAll(/\]\(([^)#:]+)\)/g)) assert.isTrue(existsSync(join(root, path!)), path)
    const scripts: Readonly<Record<string, string>> = JSON.parse(
      readFileSync(join(root, "package.json"), "utf8")
    ).scripts
    for (const [, name] of readme.matchAll(/npm (?:run )?(start|test|check|bench)\b/g)) assert.property(scripts, name!)
  })
})
