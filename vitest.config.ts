import { defineConfig } from "vitest/config"
import { nodeFlags } from "./scripts/launch.mjs"
import { filesToRun } from "./test/support/Suites.ts"
import { LongestFirst } from "./test/support/LongestFirst.ts"

export default defineConfig({
  test: {
    ...filesToRun(process.env["SLUICE_TEST_SUITE"], process.argv),
    // Failures and the summary. What a test wrote to its console is shown where it failed; `--silent=false` shows all.
    setupFiles: ["test/support/LeakWarnings.ts"],
    reporters: ["minimal"],
    silent: "passed-only",
    // They end a hang. No test fails of a busy machine: what it bounds are steps and virtual time.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: "forks",
    // A worker keeps its modules and what was compiled of them from file to file: five times as fast as one anew for each.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    execArgv: [...nodeFlags],
    maxWorkers: 2
  }
})
