#!/usr/bin/env node
/** The `sluice` command in a checkout: the same start as `npm start`, from any directory. */
import { join } from "node:path"
import { compileCache, launch, root } from "../../../scripts/launch.mjs"

launch([join(root, "packages", "cli", "src", "main.ts"), ...process.argv.slice(2)], compileCache)
