/** A checkout installs missing packages before it runs, and does not run the remains of an interrupted install. */
import { spawnSync } from "node:child_process"
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, it } from "vitest"

const roots: Array<string> = []
afterAll(() => roots.forEach((root) => rmSync(root, { recursive: true, force: true })))

/** A checkout with only the scripts and one file that prints a line. */
const checkout = () => {
  const root = mkdtempSync(join(tmpdir(), "sluice-launch-"))
  roots.push(root)
  mkdirSync(join(root, "scripts"))
  for (const name of ["launch.mjs", "run.mjs"]) {
    copyFileSync(join(import.meta.dirname, "..", "scripts", name), join(root, "scripts", name))
  }
  writeFileSync(join(root, "package-lock.json"), "{}")
  writeFileSync(join(root, "said.mjs"), "console.log('said')")
  return root
}

const run = (root: string, npm?: string) =>
  spawnSync(process.execPath, [join(root, "scripts", "run.mjs"), join(root, "said.mjs")], {
    encoding: "utf8",
    env: { ...process.env, npm_execpath: npm }
  })

it("an empty program of the npm package node is refused, because it would do nothing and succeed", () => {
  const root = checkout()
  mkdirSync(join(root, "node_modules", "node", "bin"), { recursive: true })
  writeFileSync(join(root, "node_modules", ".package-lock.json"), "{}")
  writeFileSync(join(root, "node_modules", "node", "bin", "node"), "", { mode: 0o755 })
  expect(run(root).stdout).toBe("said\n")
})

it("missing packages are installed, and npm prints only errors", () => {
  const root = checkout()
  const npm = join(root, "npm-cli.js")
  writeFileSync(
    npm,
    `const fs = require("node:fs")
    fs.mkdirSync("node_modules")
    fs.writeFileSync("node_modules/.package-lock.json", "{}")
    if (!process.argv.includes("--loglevel=error")) console.error("npm warn EBADENGINE")`
  )
  expect(run(root, npm)).toMatchObject({
    stdout: "said\n",
    stderr: "sluice: installing dependencies with npm ci (about a minute, only now) ...\n",
    status: 0
  })
  // Once.
  expect(run(root, npm).stderr).toBe("")
})
