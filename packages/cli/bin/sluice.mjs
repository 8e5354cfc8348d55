#!/usr/bin/env -S node --
/**
 * The `sluice` command in a checkout: the same start as `npm start`, from any directory. After the two dashes Node takes no
 * flag for its own: --env-file is one of ours.
 */
import { join } from "node:path"
import { compileCache, launch, root } from "../../../scripts/launch.mjs"

launch([join(root, "packages", "cli", "src", "main.ts"), ...process.argv.slice(2)], compileCache)
