/** A world under some faults, alone in its test, and a command whose whole output is known. */
import type { MachineProvider } from "@sluice/domain/machines/MachineProvider"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { FaultRates } from "@sluice/simulator/faults/Fault"
import type { FaultRanges } from "@sluice/simulator/faults/FaultyWorld"
import { faultyWorld } from "./FaultyFleet.ts"
import { faultDrawOf } from "./Faults.ts"

export const pass = (ms: number) => TestClock.adjust(ms)
export const COMMAND = "for i in 1 2 3 4 5 6; do echo line $i; sleep 60; done; exit 3"
export const TEXT = "line 1\nline 2\nline 3\nline 4\nline 5\nline 6\n"

export const under = <A, E>(
  rates: Partial<FaultRates>,
  body: (faults: ReturnType<typeof faultDrawOf>) => Effect.Effect<A, E, MachineProvider>,
  options: { readonly ranges?: Partial<FaultRanges>; readonly seed?: number } = {}
) => {
  const faults = faultDrawOf(rates, options.seed)
  const faulted = { faultDraw: faults.faultDraw, ...(options.ranges === undefined ? {} : { ranges: options.ranges }) }
  return Effect.provide(body(faults), faultyWorld(faulted), { local: true })
}
