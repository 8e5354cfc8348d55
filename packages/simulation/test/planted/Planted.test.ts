/** The planted bugs that a run finds within a second: they show in each run of the tests that the invariants can fail. */
import { openDatabase } from "../../src/database/GuardedDatabase.ts"
import type { SharedDatabase } from "../../src/database/SharedDatabase.ts"
import { Effect } from "effect"
import { assert, beforeAll, describe, it } from "vitest"
import { BUGS } from "./Bugs.ts"
import { findBug } from "./FindBug.ts"
import { REQUEST_BUGS } from "./RequestBugs.ts"

let database: SharedDatabase
beforeAll(async () => {
  database = await Effect.runPromise(openDatabase)
})

const bugs = [...BUGS, ...REQUEST_BUGS].filter(({ isQuick }) => isQuick === true)

describe("The simulation finds at once", () => {
  it("at least one bug of each kind", () => {
    assert.isTrue(bugs.some(({ statements }) => statements !== undefined))
    assert.isTrue(bugs.some(({ machines }) => machines !== undefined))
    assert.isTrue(bugs.some(({ models }) => models !== undefined))
  })

  for (const bug of bugs) it(bug.name, () => findBug(database, bug).then(() => undefined))
})
