import { defineConfig } from "vitest/config"
import { nodeFlags } from "./scripts/launch.mjs"

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "test/**/*.test.ts"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: "forks",
    execArgv: [...nodeFlags],
    maxWorkers: 2
  }
})
