/** How a checkout runs itself: what an install that broke off left behind is not taken for the pinned Node. */
import { spawnSync } from "node:child_process"
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, it } from "vitest"

const root = mkdtempSync(join(tmpdir(), "sluice-launch-"))
afterAll(() => rmSync(root, { recursive: true, force: true }))

it("an emptied program of the npm package node is not run: it would do nothing, and succeed", () => {
  mkdirSync(join(root, "scripts"))
  for (const name of ["launch.mjs", "run.mjs"]) {
    copyFileSync(join(import.meta.dirname, "..", "scripts", name), join(root, "scripts", name))
  }
  writeFileSync(join(root, "package-lock.json"), "{}")
  mkdirSync(join(root, "node_modules", "node", "bin"), { recursive: true })
  writeFileSync(join(root, "node_modules", ".package-lock.json"), "{}")
  writeFileSync(join(root, "node_modules", "node", "bin", "node"), "", { mode: 0o755 })
  writeFileSync(join(root, "said.mjs"), "console.log('said')")

  const { stdout } = spawnSync(process.execPath, [join(root, "scripts", "run.mjs"), join(root, "said.mjs")], {
    encoding: "utf8"
  })
  expect(stdout).toBe("said\n")
})
