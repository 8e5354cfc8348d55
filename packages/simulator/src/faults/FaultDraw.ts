/**
 * Does a fault strike this call? Chance by name: which faults meet a subject depends on the seed, the subject's name and how
 * often it was asked about, and on nothing that happens to others.
 *
 * It belongs to the world and outlives every server. A fault that is only planned (`planned`) is not counted before it
 * takes effect (`struck`).
 */
import { between, type Chance } from "@sluice/machine-shell/Chance"
import type { CallFault, Fault, FaultRates, Strike } from "./Fault.ts"

export interface FaultDrawOptions {
  readonly chance: Chance
  readonly rates: FaultRates
  readonly report: (strike: Strike) => void
  /** Hears of each strike when it is drawn, which may be long before it takes effect. */
  readonly planned?: (fault: CallFault) => void
  /** Virtual milliseconds since the start of the run. */
  readonly now: () => number
  /** The stable name of what has a generated key: the plan item's id. Without one the key is the name. */
  readonly nameOf?: (key: string) => string | undefined
}

export class FaultDraw {
  private readonly options: FaultDrawOptions
  /** By name, how often it was asked about for each purpose. The oldest are forgotten. */
  private readonly asked = new Map<string, Map<string, number>>()
  private readonly counted = new Map<Fault, number>()

  constructor(options: FaultDrawOptions) {
    this.options = options
  }

  /** How often each fault took effect. */
  get counts(): ReadonlyMap<Fault, number> {
    return this.counted
  }

  mayStrike(fault: CallFault): boolean {
    return this.options.rates[fault] > 0
  }

  /** Whether it strikes this time; of one subject not more than `most` times, so that trying again helps in the end. */
  strikes(fault: CallFault, key: string, most = Number.POSITIVE_INFINITY): boolean {
    const strikes = this.planned(fault, key, most)
    if (strikes) this.struck(fault, key)
    return strikes
  }

  /** Whether it is going to; say `struck` when it does. */
  planned(fault: CallFault, key: string, most = Number.POSITIVE_INFINITY): boolean {
    const rate = this.options.rates[fault]
    if (rate <= 0) return false
    const name = this.nameOf(key)
    const times = this.next(fault, name)
    if (this.times(`${fault} struck`, name) >= most) return false
    if (this.options.chance.draw(`${fault}/${name}/${times}`) >= rate || !this.again(fault)) return false
    if (most < Number.POSITIVE_INFINITY) this.next(`${fault} struck`, name)
    return true
  }

  /** Whether a strike that is drawn already, or comes with another, may still be. */
  again(fault: CallFault): boolean {
    if (!this.mayStrike(fault)) return false
    this.options.planned?.(fault)
    return true
  }

  struck(fault: CallFault, key: string): void {
    this.counted.set(fault, (this.counted.get(fault) ?? 0) + 1)
    this.options.report({ at: this.options.now(), fault, subject: this.nameOf(key) })
  }

  /** From 0 up to but not 1: how a fault goes, drawn anew for each time. */
  draw(purpose: string, key: string): number {
    const name = this.nameOf(key)
    return this.options.chance.draw(`${purpose}/${name}/${this.next(purpose, name)}`)
  }

  /** A whole number of the range, both ends included. */
  within(purpose: string, key: string, [low, high]: readonly [number, number]): number {
    return between(this.draw(purpose, key), low, high)
  }

  private nameOf(key: string): string {
    return this.options.nameOf?.(key) ?? key
  }

  private times(purpose: string, name: string): number {
    return this.asked.get(name)?.get(purpose) ?? 0
  }

  private next(purpose: string, name: string): number {
    const purposes = this.asked.get(name) ?? remembered(this.asked, name, new Map<string, number>())
    const times = purposes.get(purpose) ?? 0
    purposes.set(purpose, times + 1)
    return times
  }
}

/** Subjects of which something is remembered: more than ever run at once. */
const MAX_SUBJECTS = 100_000

/** Sets it, and forgets the oldest where there are too many: a world runs for as long as its server. */
export const remembered = <V>(all: Map<string, V>, key: string, value: V): V => {
  const oldest = all.size < MAX_SUBJECTS ? undefined : all.keys().next().value
  if (oldest !== undefined) all.delete(oldest)
  all.set(key, value)
  return value
}
