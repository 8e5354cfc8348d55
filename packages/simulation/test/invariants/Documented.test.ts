/** ARCHITECTURE.md lists exactly the invariants that are checked. */
import { assert, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { INVARIANTS } from "../../src/invariants/Invariants.ts"

const text = readFileSync(new URL("../../../../ARCHITECTURE.md", import.meta.url), "utf8")
const section = /^## Invariants\n([\s\S]*?)(?=^## )/m.exec(text)?.[1] ?? ""

it("ARCHITECTURE.md lists the invariants by number, name and sentence", () => {
  const listed = section.split("\n").filter((line) => /^\d+\. /.test(line))
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
