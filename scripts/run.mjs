/**
 * Runs a file of this checkout with the pinned Node: `run.mjs FILE ARGS`. Runs the quick tests with `run.mjs --test ARGS`, and the
 * long ones (`*.deep.test.ts`) with `run.mjs --test --deep ARGS`.
 */
import { join } from "node:path"
import { compileCache, launch, root } from "./launch.mjs"

const [what, ...args] = process.argv.slice(2)
if (what === "--test") {
  const suite = args.includes("--deep") ? { SLUICE_TEST_SUITE: "deep" } : {}
  const rest = args.filter((arg) => arg !== "--deep")
  launch([join(root, "node_modules", "vitest", "vitest.mjs"), "run", ...rest], { ...compileCache, ...suite })
} else if (what === undefined) {
  process.stderr.write("usage: node scripts/run.mjs FILE [ARGS] | --test [--deep] [ARGS]\n")
} else launch([what, ...args], compileCache)
