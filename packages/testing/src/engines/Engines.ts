/**
 * Suites that need a program of the machine (PostgreSQL, Redis, Chromium). Where it is absent they are skipped by name; with
 * CI=true, which installs all of them, that is a failure, unless CI says in SLUICE_TEST_WITHOUT that it could not.
 */
import { describe, expect, it } from "vitest"

export type Engine = "postgresql" | "redis-server" | "chromium"

const without = (process.env["SLUICE_TEST_WITHOUT"] ?? "").split(" ")

/** `absent`: why the engine is not there; undefined: it is. */
export const describeWith = (engine: Engine, absent: string | undefined, title: string, suite: () => void): void => {
  if (absent === undefined) describe(title, suite)
  else if (process.env["CI"] !== "true" || without.includes(engine))
    describe.skip(`${title} (skipped: ${absent})`, suite)
  else describe(title, () => it(`has ${engine}`, () => expect.unreachable(absent)))
}
