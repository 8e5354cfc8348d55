import { defineConfig } from "vitest/config"
import { nodeFlags } from "./scripts/launch.mjs"
import { filesToRun } from "./test/support/Suites.ts"
import { LongestFirst } from "./test/support/LongestFirst.ts"

export default defineConfig({
  test: {
    ...filesToRun(process.env["SLUICE_TEST_SUITE"], process.argv),
    // Failures and the summary. What a test wrote to its console is shown where it failed; `--silent=false` shows all.
    reporters: ["minimal"],
    silent: "passed-only",
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: "forks",
    // A worker keeps its modules and what was compiled of them from file to file: five times as fast as one anew for each.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    execArgv: [...nodeFlags],
    maxWorkers: 2
  }
})
