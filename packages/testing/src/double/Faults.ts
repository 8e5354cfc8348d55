/** Faults that a test orders, one by one, while everything runs. */
import { chance } from "@sluice/machine-shell/Chance"
import { CALL_FAULTS, type CallFault, type Fault, type FaultRates, noFaults } from "@sluice/simulator/faults/Fault"
import { FaultDraw } from "@sluice/simulator/faults/FaultDraw"
import { checkFault, refusal } from "./DoubleOptions.ts"

export interface FaultOptions {
  /** That a call is struck which could be: from 0 to 1. Default 1. */
  readonly chance?: number
  /** So often at most, then all is well again. Default: until it is cleared. */
  readonly times?: number
}

export interface OrderedFault {
  /** How often it has struck since it was ordered. */
  readonly struck: number
  /** Ends it. */
  readonly clear: () => void
}

export class OrderedFaults {
  readonly faultDraw: FaultDraw
  readonly rates: FaultRates
  private readonly orders = new Map<Fault, { struck: number; left: number }>()

  constructor(options: {
    readonly seed: number
    readonly now: () => number
    readonly struck?: (fault: Fault) => void
  }) {
    const rates: Record<Fault, number> = { ...noFaults }
    this.rates = rates
    this.faultDraw = new FaultDraw({
      chance: chance(options.seed),
      rates: this.rates,
      now: options.now,
      report: ({ fault }) => {
        const order = this.orders.get(fault)
        if (order !== undefined) order.struck++
        options.struck?.(fault)
      },
      // What is only foretold counts: many machines may be launched before the first of them is lost.
      onPlanned: (fault) => {
        const order = this.orders.get(fault)
        if (order !== undefined && --order.left <= 0) rates[fault] = 0
      }
    })
    this.set = (fault, rate) => {
      rates[fault] = rate
    }
  }

  /** A second order of the same fault takes the place of the first. */
  order(fault: CallFault, options: FaultOptions = {}): OrderedFault {
    if (!CALL_FAULTS.includes(fault)) {
      throw refusal("fault", `there is no fault ${fault}; there are ${CALL_FAULTS.join(", ")}`)
    }
    checkFault(fault, options)
    const rate = options.chance ?? 1
    const times = options.times ?? Number.POSITIVE_INFINITY
    const order = { struck: 0, left: times }
    this.orders.set(fault, order)
    this.set(fault, rate)
    return {
      get struck() {
        return order.struck
      },
      clear: () => {
        if (this.orders.get(fault) === order) this.set(fault, 0)
      }
    }
  }

  private readonly set: (fault: CallFault, rate: number) => void
}
