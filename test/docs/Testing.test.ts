/** The example of docs/testing.md is a suite that passes, run as its reader would: by vitest, in a project that has Sluice installed. */
import { execFile } from "node:child_process"
import { readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { FAULTS } from "@sluice/simulator/testing"
import { NODE, temporaryDirectory } from "../support/ServerProcess.ts"

const root = join(import.meta.dirname, "..", "..")
const page = readFileSync(join(root, "docs", "testing.md"), "utf8")
const example = /^```ts\n([\s\S]*?)^```$/m.exec(page)![1]!

describe("docs/testing.md", () => {
  it("has an example that passes", { timeout: 120_000 }, async () => {
    const project = temporaryDirectory()
    symlinkSync(join(root, "node_modules"), join(project.path, "node_modules"))
    writeFileSync(join(project.path, "package.json"), `{ "type": "module" }\n`)
    writeFileSync(join(project.path, "example.test.ts"), example)
    const args = [join(root, "node_modules", "vitest", "vitest.mjs"), "run", "--root", project.path]
    const { code, text } = await new Promise<{ code: number; text: string }>((resolve) => {
      const child = execFile(NODE, args, { cwd: project.path, timeout: 100_000 }, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : (child.exitCode ?? 1), text: stdout + stderr })
      )
    })
    assert.strictEqual(code, 0, text)
    assert.match(text, /2 passed/)
    project.remove()
  })

  it("names every fault", () => {
    for (const fault of FAULTS) assert.include(page, `\`${fault}\``)
  })
})
