/** A closed test double and a simulated run leave nothing behind in their process: people import both into suites of their own. */
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "vitest"
import { NODE } from "../../src/servers/ServerProcess.ts"
import { nodeFlags } from "../../../../scripts/launch.mjs"

/** What the program prints, once it has ended by itself: a handle that is left open would keep it. */
const leftovers = async (program: string): Promise<ReadonlyArray<string>> => {
  const file = join(import.meta.dirname, program)
  const { stderr, stdout } = await promisify(execFile)(NODE, [
    ...nodeFlags,
    "--disable-warning=ExperimentalWarning",
    file
  ])
  assert.strictEqual(stderr, "")
  return JSON.parse(stdout)
}

describe("What is left in the process", () => {
  it("of a closed test double is nothing", async () => {
    assert.deepStrictEqual(await leftovers("double.ts"), [])
  })

  it("of a simulated run is nothing", async () => {
    assert.deepStrictEqual(await leftovers("simulation.ts"), [])
  })
})
