/** Wrong arguments: exit code 2, nothing on standard output, and the expected form on standard error. */
import { describe, expect, it } from "vitest"
import { cli } from "./support/Cli.ts"

describe("wrong arguments", () => {
  it("an unknown flag of jobs run gets the advice to put it after --, and other unknown flags do not", async () => {
    const job = await cli(["jobs", "run", "--gpu", "H100", "ls", "-la"])
    expect([job.code, job.out]).toEqual([2, ""])
    expect(job.err).toContain("Unrecognized flag: -l")
    expect(job.err).toContain("come after --, as in: sluice jobs run --gpu H100 -- ls -la")
    const list = await cli(["jobs", "list", "--nope"])
    expect([list.code, list.out]).toEqual([2, ""])
    expect(list.err).not.toContain("after --")
  })

  it("a wrong number is reported in plain words, and as JSON with --json", async () => {
    const words = await cli(["jobs", "run", "--gpu", "H100", "--gpus", "two", "--", "x"])
    expect(words.err).toContain('Invalid value for flag --gpus: "two". Expected a number')
    const json = await cli(["--json", "jobs", "run", "--gpu", "H100", "--gpus", "two", "--", "x"])
    expect(json.code).toBe(2)
    expect(JSON.parse(json.err).error).toMatchObject({ code: "usage" })
  })
})
