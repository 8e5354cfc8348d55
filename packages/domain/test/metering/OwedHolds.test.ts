/** Holds that wait for their release: the order of retries, the bound on their number, and the pause of a failing one. */
import { makeHoldReleaseQueue } from "@sluice/domain/metering/HoldReleaseQueue"
import type { MeterOutcome, MeterRow } from "@sluice/domain/metering/MeteringStore"
import { Effect } from "effect"
import { expect, it } from "vitest"

const OUTCOME: MeterOutcome = { refused: null, available: 0n, budgetReached: false, room: null }
const row = (n: number) => ({ id: `${n}` }) as MeterRow

it("lost holds are kept within a bound, and retried when the database answers", () => {
  const told = new Set<string>()
  const works: Array<Effect.Effect<void>> = []
  const owe = makeHoldReleaseQueue(
    ({ id }) =>
      Effect.as(
        Effect.sync(() => void told.add(id)),
        OUTCOME
      ),
    Effect.void,
    Effect.void,
    (work) => void works.push(work)
  )
  for (let n = 0; n < 10_010; n++) owe(row(n))
  expect(works.length).toBe(1)
  for (const work of works) Effect.runSync(work)
  expect(told.size).toBe(10_000)
  // There is room again, and a database that answers.
  works.length = 0
  owe(row(20_000))
  expect(works.length).toBe(1)
})

it("a failing lost hold is retried once, a while after it was lost", () => {
  const seen: Array<string> = []
  const owe = makeHoldReleaseQueue(
    () =>
      Effect.andThen(
        Effect.sync(() => void seen.push("told")),
        Effect.die("a defect")
      ),
    Effect.suspend(() => (seen.push("slept") > 9 ? Effect.die("it never ends") : Effect.void)),
    Effect.sync(() => void seen.push("told once more")),
    (work) => Effect.runSync(work)
  )
  owe(row(1))
  expect(seen).toEqual(["slept", "told"])
})
