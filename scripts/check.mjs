/** Checks the source: format, lint, types with Effect's rules, architecture. Runs all of them, and fails if one fails. */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { root } from "./launch.mjs"

const bin = (name) => join(root, "node_modules", ".bin", name)
const checks = [
  ["format", bin("oxfmt"), ["--check", "."], "npx oxfmt ."],
  ["lint", bin("oxlint"), ["--deny-warnings", "."], "see each finding"],
  // Patches the compiler with Effect's rules. A second run changes nothing.
  ["Effect rules", bin("effect-tsgo"), ["patch", "--typescript"], "npm ci"],
  ["types", bin("tsc"), ["--noEmit"], "see each finding"],
  [
    "architecture",
    process.execPath,
    [join(root, "node_modules/vitest/vitest.mjs"), "run", "test/architecture.test.ts"],
    "see each finding"
  ]
]

const failed = checks.filter(([title, command, args]) => {
  process.stdout.write(`\n== ${title}\n`)
  return spawnSync(command, args, { cwd: root, stdio: "inherit" }).status !== 0
})
for (const [title, , , remedy] of failed) process.stdout.write(`check failed: ${title} (${remedy})\n`)
if (failed.length === 0) process.stdout.write("\nall checks passed\n")
process.exitCode = failed.length === 0 ? 0 : 1
