/**
 * Does a fault strike this call? Chance by name: which faults meet a subject depends on the seed, the subject's name and how
 * often it was asked about, and on nothing that happens to others.
 *
 * It belongs to the world and outlives every server. A fault that is only planned (`foretold`) is not counted before it
 * takes effect (`struck`).
 */
import { between, type Chance } from "../driver/Chance.ts"
import type { CallFault, Fault, FaultRates, Strike } from "./Fault.ts"

export interface StrikeOptions {
  readonly chance: Chance
  readonly rates: FaultRates
  readonly report: (strike: Strike) => void
  /** Virtual milliseconds since the start of the run. */
  readonly now: () => number
  /** The stable name of what has a generated key: the plan item's id. Without one the key is the name. */
  readonly nameOf?: (key: string) => string | undefined
}

export class Strikes {
  private readonly options: StrikeOptions
  /** How often each name was asked about, by `fault/name` and by purpose. One entry per subject of the run. */
  private readonly asked = new Map<string, number>()
  private readonly counted = new Map<Fault, number>()

  constructor(options: StrikeOptions) {
    this.options = options
  }

  /** How often each fault took effect. */
  get counts(): ReadonlyMap<Fault, number> {
    return this.counted
  }

  mayStrike(fault: CallFault): boolean {
    return this.options.rates[fault] > 0
  }

  /** Whether it strikes this time; from the `most`-th time on it never does, so that trying again helps in the end. */
  strikes(fault: CallFault, key: string, most = Number.POSITIVE_INFINITY): boolean {
    const strikes = this.foretold(fault, key, most)
    if (strikes) this.struck(fault, key)
    return strikes
  }

  /** Whether it is going to; say `struck` when it does. */
  foretold(fault: CallFault, key: string, most = Number.POSITIVE_INFINITY): boolean {
    const rate = this.options.rates[fault]
    if (rate <= 0) return false
    const name = `${fault}/${this.nameOf(key)}`
    const times = this.next(name)
    return times < most && this.options.chance.draw(`${name}/${times}`) < rate
  }

  struck(fault: CallFault, key: string): void {
    this.counted.set(fault, (this.counted.get(fault) ?? 0) + 1)
    this.options.report({ at: this.options.now(), fault, subject: this.nameOf(key) })
  }

  /** From 0 up to but not 1: how a fault goes, drawn anew for each time. */
  draw(purpose: string, key: string): number {
    const name = `${purpose}/${this.nameOf(key)}`
    return this.options.chance.draw(`${name}/${this.next(name)}`)
  }

  /** A whole number of the range, both ends included. */
  within(purpose: string, key: string, [low, high]: readonly [number, number]): number {
    return between(this.draw(purpose, key), low, high)
  }

  private nameOf(key: string): string {
    return this.options.nameOf?.(key) ?? key
  }

  private next(name: string): number {
    const times = this.asked.get(name) ?? 0
    this.asked.set(name, times + 1)
    return times
  }
}
