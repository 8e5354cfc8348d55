/**
 * Puts machines on as few rows as their times allow: a row is used again when its machine has ended. Of a long run, what is
 * too short to be seen is drawn together with what comes right after it.
 */
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

/** Machines of one row that are drawn as one bar. */
export interface Bar {
  readonly lane: number
  readonly from: number
  readonly to: number
  readonly machines: ReadonlyArray<MachineRow>
}

/** What follows each other in a row within `span` ms becomes one bar. */
export const together = (placed: ReadonlyArray<Placed>, span: number): ReadonlyArray<Bar> => {
  const bars: Array<{
    readonly lane: number
    readonly from: number
    to: number
    readonly machines: Array<MachineRow>
  }> = []
  const last = new Map<number, (typeof bars)[number]>()
  for (const { from, lane, machine, to } of placed) {
    const before = last.get(lane)
    if (before !== undefined && to - before.from <= span) {
      before.to = to
      before.machines.push(machine)
      continue
    }
    const bar = { lane, from, to, machines: [machine] }
    bars.push(bar)
    last.set(lane, bar)
  }
  return bars
}
