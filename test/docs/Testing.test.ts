/** The example of docs/testing.md passes and compiles in a project that has Sluice installed. */
import { execFile } from "node:child_process"
import { readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { FAULTS } from "@sluice/testing"
import { NODE, temporaryDirectory } from "@sluice/testing/servers/ServerProcess"

const root = join(import.meta.dirname, "..", "..")
const page = readFileSync(join(root, "docs", "testing.md"), "utf8")
const example = /^```ts\n([\s\S]*?)^```$/m.exec(page)![1]!
const options = JSON.parse(/^```json\n([\s\S]*?)^```$/m.exec(page)![1]!) as { readonly compilerOptions: object }

/** Runs a program of an installed package in a project that contains the example. */
const run = async (program: ReadonlyArray<string>, args: (project: string) => ReadonlyArray<string>) => {
  const project = temporaryDirectory()
  symlinkSync(join(root, "node_modules"), join(project.path, "node_modules"))
  writeFileSync(join(project.path, "package.json"), `{ "type": "module" }\n`)
  writeFileSync(join(project.path, "example.test.ts"), example)
  writeFileSync(join(project.path, "tsconfig.json"), JSON.stringify(options))
  const command = [join(root, "node_modules", ...program), ...args(project.path)]
  const ended = await new Promise<{ code: number; text: string }>((resolve) => {
    const child = execFile(NODE, command, { cwd: project.path, timeout: 280_000 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : (child.exitCode ?? 1), text: stdout + stderr })
    )
  })
  project.remove()
  assert.strictEqual(ended.code, 0, ended.text)
  return ended.text
}

describe("docs/testing.md", () => {
  it("has an example that passes", { timeout: 300_000 }, async () => {
    // Vitest's own limit is 5 s, which a busy machine may need for the first chat.
    const limits = ["--testTimeout=240000", "--hookTimeout=240000"]
    const text = await run(["vitest", "vitest.mjs"], (project) => ["run", "--root", project, ...limits])
    assert.match(text, /2 passed/)
  })

  it("has an example that compiles with the options that it names", { timeout: 300_000 }, async () => {
    const more = ["noUncheckedIndexedAccess", "exactOptionalPropertyTypes", "noImplicitReturns", "noUnusedLocals"]
    const rest = ["noUnusedParameters", "noImplicitOverride", "verbatimModuleSyntax", "erasableSyntaxOnly"]
    const strict = ["--types", "node", ...[...more, ...rest].map((name) => `--${name}`)]
    for (const lib of [[], ["--strict", "--lib", "es2024,dom"]])
      await run(["typescript", "bin", "tsc"], () => [...strict, ...lib])
  })

  it("names every fault", () => {
    for (const fault of FAULTS) assert.include(page, `\`${fault}\``)
  })
})
