/**
 * The listing of a faulty provider: true, empty, partial, stale, or an error. The listing invents nothing: every entry
 * was true at some time.
 */
import type { MachineProviderService } from "@sluice/domain/machines/MachineProvider"
import { ProviderUnavailable } from "@sluice/domain/machines/MachineProvider"
import { Clock, Effect } from "effect"
import { applyFaults, observeDelayed } from "./FaultedObservation.ts"
import type { FaultyWorld, Listing } from "./FaultyWorld.ts"
import type { FaultDraw } from "./FaultDraw.ts"

const SUBJECT = "listing"

export const faultyListing = (
  inner: MachineProviderService,
  faultDraw: FaultDraw,
  world: FaultyWorld
): MachineProviderService["list"] =>
  Effect.gen(function* () {
    if (faultDraw.applies("listing_fails", SUBJECT)) {
      return yield* new ProviderUnavailable({ cause: "injected: no answer to list" })
    }
    const before = world.lastListing
    const listed = yield* inner.list
    const now = yield* Clock.currentTimeMillis
    world.lastListing = visibleMachines(world, listed, now)
    if (faultDraw.applies("listing_empty", SUBJECT)) return []
    if (faultDraw.applies("listing_stale", SUBJECT)) return before
    if (!faultDraw.applies("listing_partial", SUBJECT)) return world.lastListing
    return world.lastListing.filter(({ key }) => faultDraw.draw("listed", key) < 0.5)
  })

/** Returns the visible machines. Delayed launches are listed too. */
const visibleMachines = (world: FaultyWorld, listed: Listing, now: number): Listing => {
  const known = listed.map(({ key, state }) => {
    const plan = world.plans.get(key)
    return plan === undefined
      ? { key, state }
      : { key, state: applyFaults(plan, withoutPromise(state, now), now).state }
  })
  const delayed = [...world.delayed].map((plan) => ({
    key: plan.key,
    state: applyFaults(plan, observeDelayed(plan, now), now).state
  }))
  return [...known, ...delayed].filter(({ state }) => state._tag !== "Absent")
}

const withoutPromise = (state: Listing[number]["state"], at: number) => ({
  state,
  at,
  nextAt: null,
  nextOutputAt: null
})
