/**
 * Draws whether a fault applies to a call. The chance goes by name: the faults of a subject depend on the seed, the
 * subject's name and the number of its earlier draws, and not on other subjects.
 *
 * A `FaultDraw` belongs to the world and outlives every server. A fault that is only planned (`plan`) is counted when
 * it takes effect (`markApplied`).
 */
import { between, type Chance } from "@sluice/machine-shell/Chance"
import type { CallFault, Fault, FaultRates, AppliedFault } from "./Fault.ts"

export interface FaultDrawOptions {
  readonly chance: Chance
  readonly rates: FaultRates
  readonly report: (fault: AppliedFault) => void
  /** Called for each fault when it is drawn, which can be long before it takes effect. */
  readonly onPlanned?: (fault: CallFault) => void
  /** Virtual milliseconds since the start of the run. */
  readonly now: () => number
  /** Returns the stable name behind a generated key: the id of the plan item. Without one the key is the name. */
  readonly nameOf?: (key: string) => string | undefined
}

export class FaultDraw {
  private readonly options: FaultDrawOptions
  /** The number of draws, by name and purpose. The oldest names are dropped. */
  private readonly draws = new Map<string, Map<string, number>>()
  private readonly applied = new Map<Fault, number>()

  constructor(options: FaultDrawOptions) {
    this.options = options
  }

  /** The number of times that each fault took effect. */
  get counts(): ReadonlyMap<Fault, number> {
    return this.applied
  }

  isEnabled(fault: CallFault): boolean {
    return this.options.rates[fault] > 0
  }

  /**
   * Draws whether the fault applies to this call. It applies to a subject at most `max` times, so that retries succeed
   * in the end.
   */
  applies(fault: CallFault, key: string, max = Number.POSITIVE_INFINITY): boolean {
    const isPlanned = this.plan(fault, key, max)
    if (isPlanned) this.markApplied(fault, key)
    return isPlanned
  }

  /** Draws whether the fault is going to apply. The caller marks it as applied when it takes effect. */
  plan(fault: CallFault, key: string, max = Number.POSITIVE_INFINITY): boolean {
    const rate = this.options.rates[fault]
    if (rate <= 0) return false
    const name = this.nameOf(key)
    const times = this.countDraw(fault, name)
    if (this.drawsOf(`${fault} planned`, name) >= max) return false
    if (this.options.chance.draw(`${fault}/${name}/${times}`) >= rate || !this.planAgain(fault)) return false
    if (max < Number.POSITIVE_INFINITY) this.countDraw(`${fault} planned`, name)
    return true
  }

  /** Returns true when a fault that is drawn already, or that comes with another one, can still apply. */
  planAgain(fault: CallFault): boolean {
    if (!this.isEnabled(fault)) return false
    this.options.onPlanned?.(fault)
    return true
  }

  markApplied(fault: CallFault, key: string): void {
    this.applied.set(fault, (this.applied.get(fault) ?? 0) + 1)
    this.options.report({ at: this.options.now(), fault, subject: this.nameOf(key) })
  }

  /** Draws a number from 0 up to but not 1 that shapes a fault. Each call draws a new one. */
  draw(purpose: string, key: string): number {
    const name = this.nameOf(key)
    return this.options.chance.draw(`${purpose}/${name}/${this.countDraw(purpose, name)}`)
  }

  /** Draws a whole number of the range, both ends included. */
  drawBetween(purpose: string, key: string, [low, high]: readonly [number, number]): number {
    return between(this.draw(purpose, key), low, high)
  }

  private nameOf(key: string): string {
    return this.options.nameOf?.(key) ?? key
  }

  private drawsOf(purpose: string, name: string): number {
    return this.draws.get(name)?.get(purpose) ?? 0
  }

  /** Counts one more draw. Returns the number of draws before it. */
  private countDraw(purpose: string, name: string): number {
    const purposes = this.draws.get(name) ?? remember(this.draws, name, new Map<string, number>())
    const times = purposes.get(purpose) ?? 0
    purposes.set(purpose, times + 1)
    return times
  }
}

/**
 * Names whose draws are counted: more than exist at once. A dropped name would start its draws again; more names cost
 * memory.
 */
const MAX_SUBJECTS = 100_000

/** Sets a value, and drops the oldest one above the bound: a world runs for as long as its server. */
export const remember = <V>(all: Map<string, V>, key: string, value: V): V => {
  const oldest = all.size < MAX_SUBJECTS ? undefined : all.keys().next().value
  if (oldest !== undefined) all.delete(oldest)
  all.set(key, value)
  return value
}
