/** Puts machines on as few rows as their times allow: a row is used again when its machine has ended. */
import type { MachineRow } from "./Outcome.ts"

export interface Placed {
  readonly machine: MachineRow
  readonly lane: number
  readonly from: number
  readonly to: number
}

/** Machines that never ran are left out; one that still runs lasts until `end` (ms from the start). */
export const packed = (machines: ReadonlyArray<MachineRow>, end: number): ReadonlyArray<Placed> => {
  const free: Array<number> = []
  return machines
    .filter((machine) => machine.runningAt !== null)
    .sort((a, b) => a.runningAt! - b.runningAt! || (a.id < b.id ? -1 : 1))
    .map((machine) => {
      const from = machine.runningAt!
      const to = Math.max(from, machine.stoppedAt ?? end)
      const found = free.findIndex((until) => until <= from)
      const lane = found < 0 ? free.length : found
      free[lane] = to
      return { machine, lane, from, to }
    })
}
