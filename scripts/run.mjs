/** Runs a file of this checkout with the pinned Node: `run.mjs FILE ARGS`, or all tests: `run.mjs --test ARGS`. */
import { join } from "node:path"
import { compileCache, launch, root } from "./launch.mjs"

const [what, ...args] = process.argv.slice(2)
if (what === "--test") launch([join(root, "node_modules", "vitest", "vitest.mjs"), "run", ...args], compileCache)
else if (what === undefined) process.stderr.write("usage: node scripts/run.mjs FILE [ARGS] | --test [ARGS]\n")
else launch([what, ...args], compileCache)
