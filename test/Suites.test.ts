/** `npm test` and `npm run test:deep` choose test files by name. */
import { readdirSync, readFileSync } from "node:fs"
import { join, matchesGlob } from "node:path"
import { assert, describe, it } from "vitest"
import { filesToRun } from "./support/Suites.ts"

const root = join(import.meta.dirname, "..")
const files = ["test", "packages"]
  .flatMap((top) => readdirSync(join(root, top), { recursive: true, encoding: "utf8" }).map((path) => join(top, path)))
  .filter((path) => path.endsWith(".test.ts") && !path.includes("node_modules"))

const chosen = (suite: string | undefined, ...args: ReadonlyArray<string>) => {
  const { exclude, include } = filesToRun(suite, args)
  const fits = (path: string, globs: ReadonlyArray<string>) => globs.some((glob) => matchesGlob(path, glob))
  return files.filter((path) => fits(path, include) && !fits(path, exclude)).sort()
}

describe("The test suites", () => {
  it("each test file runs in the quick suite or in the deep one, never in both", () => {
    const [quick, deep] = [chosen(undefined), chosen("deep")]
    assert.deepStrictEqual([...quick, ...deep].sort(), files.sort())
    assert.isTrue(deep.every((path) => path.endsWith(".deep.test.ts")))
    assert.isFalse(quick.some((path) => path.includes(".deep.")))
    assert.isAbove(deep.length, 5)
  })

  it("a deep file that an argument names runs without the deep suite", () => {
    assert.include(chosen(undefined, "vitest", "run", "Kill.deep.test.ts"), "test/crash/Kill.deep.test.ts")
  })

  it("npm test and npm run test:deep choose the two suites", () => {
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
    assert.strictEqual(scripts.test, "node scripts/run.mjs --test")
    assert.strictEqual(scripts["test:deep"], "node scripts/run.mjs --test --deep")
  })
})
