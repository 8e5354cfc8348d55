/** docs/invariants.md lists exactly the invariants that are checked. */
import { assert, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { INVARIANTS } from "../../src/invariants/Invariants.ts"

const text = readFileSync(new URL("../../../../docs/invariants.md", import.meta.url), "utf8")

it("docs/invariants.md lists the invariants by number, name and sentence", () => {
  const listed = text.split("\n").filter((line) => /^\d+\. /.test(line))
  assert.deepStrictEqual(
    listed,
    INVARIANTS.map(({ number, name, sentence }) => `${number}. **${name}**: ${sentence}`)
  )
})

it("every invariant is looked for somewhere", () => {
  const unseen = INVARIANTS.filter(({ guards, step, end }) => guards.length + step.length === 0 && end === undefined)
  assert.deepStrictEqual(unseen, [])
  assert.strictEqual(new Set(INVARIANTS.map(({ name }) => name)).size, INVARIANTS.length)
})
