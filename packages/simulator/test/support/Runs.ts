/** Runs for tests: two H100, an hour from a fixed moment on. */
import type { ShellRun } from "../../src/shell/Shell.ts"

/** 2023-11-14T22:13:20Z */
export const START = 1_700_000_000_000

export const runOf = (command: string, over: Partial<ShellRun> = {}): ShellRun => ({
  command,
  env: {},
  files: [],
  hostname: "machine-1",
  gpu: { name: "NVIDIA H100 80GB HBM3", memoryMib: 81559, powerWatts: 700, computeCapability: "9.0", count: 2 },
  seed: 7,
  startedAt: START,
  untilMs: START + 3_600_001,
  keepFiles: false,
  ...over
})
