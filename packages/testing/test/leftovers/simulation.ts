/**
 * A process that runs a simulation with kills and faults, and prints what is left of it. Its database is open after a run, as in a
 * search: the database's timer must ring once and not be set again.
 */
import { openDatabase } from "@sluice/simulation/database/GuardedDatabase"
import { simulate } from "@sluice/simulation/run/Simulation"
import { quickScenario } from "@sluice/simulation/scenario/Scenarios"
import { Effect } from "effect"
import { leftoversOf } from "../../src/fixtures/Leftovers.ts"

const found: Array<string> = []
const { now } = Date
const wait = globalThis.setTimeout
/** Longer than the database waits before it writes its statistics. */
const LATER_MS = 60_000

/** Lets the timers ring that are set, at a later time of the machine, and hears which are set again. */
const ringing = () => {
  const set = new Map<unknown, () => void>()
  Object.assign(globalThis, {
    setTimeout: (act: () => void, ms: number) => {
      if (ms > LATER_MS) found.push(`a timer of ${ms} ms`)
      const handle = wait(act, ms)
      set.set(handle, act)
      return handle
    }
  })
  return () => {
    Date.now = () => now() + LATER_MS
    // Only those that are set by now.
    const rung = Array.from(set)
    for (const [handle, act] of rung) {
      if ((handle as { readonly _destroyed?: boolean })._destroyed === true) continue
      clearTimeout(handle as NodeJS.Timeout)
      act()
    }
    Date.now = now
    Object.assign(globalThis, { setTimeout: wait })
    return set.size
  }
}

const work = async () => {
  const ring = ringing()
  const database = await Effect.runPromise(openDatabase)
  const { downs, violation } = await simulate(database, { ...quickScenario(4), hours: 0.02 })
  if (violation !== null) found.push(JSON.stringify(violation))
  if (downs.length === 0) found.push("the run killed no server")
  if (ring() === 0) found.push("the database set no timer")
  await Effect.runPromise(database.close)
}

process.stdout.write(JSON.stringify([...(await leftoversOf(work)), ...found]))
