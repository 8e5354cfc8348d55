/**
 * The listing of a faulty provider: true, empty, a part, an old one, or none. Never an invention: whatever is listed was
 * once true.
 */
import type { MachineProviderService } from "@sluice/domain/machines/MachineProvider"
import { ProviderUnavailable } from "@sluice/domain/machines/MachineProvider"
import { Clock, Effect } from "effect"
import { disguised, keptBack } from "./FaultedObservation.ts"
import type { FaultyWorld, Listing } from "./FaultyWorld.ts"
import type { FaultDraw } from "./FaultDraw.ts"

const SUBJECT = "listing"

export const faultyListing = (
  inner: MachineProviderService,
  strikes: FaultDraw,
  world: FaultyWorld
): MachineProviderService["list"] =>
  Effect.gen(function* () {
    if (strikes.strikes("listing_fails", SUBJECT)) {
      return yield* new ProviderUnavailable({ cause: "injected: no answer to list" })
    }
    const before = world.listed
    const listed = yield* inner.list
    const now = yield* Clock.currentTimeMillis
    world.listed = shown(world, listed, now)
    if (strikes.strikes("listing_empty", SUBJECT)) return []
    if (strikes.strikes("listing_stale", SUBJECT)) return before
    if (!strikes.strikes("listing_partial", SUBJECT)) return world.listed
    return world.listed.filter(({ key }) => strikes.draw("listed", key) < 0.5)
  })

/** What the machines show that can be seen at all; launches that are kept back are listed too. */
const shown = (world: FaultyWorld, listed: Listing, now: number): Listing => {
  const known = listed.map(({ key, state }) => {
    const fate = world.fates.get(key)
    return fate === undefined ? { key, state } : { key, state: disguised(fate, unpromised(state, now), now).state }
  })
  const waiting = [...world.waiting].map((fate) => ({
    key: fate.key,
    state: disguised(fate, keptBack(fate, now), now).state
  }))
  return [...known, ...waiting].filter(({ state }) => state._tag !== "Absent")
}

const unpromised = (state: Listing[number]["state"], at: number) => ({ state, at, nextAt: null, nextOutputAt: null })
