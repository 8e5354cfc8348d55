/** A fault draw with the given rates, and the faults that took effect. */
import { chance } from "@sluice/machine-shell/Chance"
import { CALL_FAULTS, type FaultRates, PLANNED_FAULTS, type AppliedFault } from "@sluice/simulator/faults/Fault"
import { type FaultDrawOptions, FaultDraw } from "@sluice/simulator/faults/FaultDraw"

export const ratesOf = (given: Partial<FaultRates>): FaultRates => ({
  ...(Object.fromEntries([...CALL_FAULTS, ...PLANNED_FAULTS].map((fault) => [fault, 0])) as FaultRates),
  ...given
})

export const faultDrawOf = (given: Partial<FaultRates>, seed = 1, options: Partial<FaultDrawOptions> = {}) => {
  const reported: Array<AppliedFault> = []
  const faultDraw = new FaultDraw({
    chance: chance(seed),
    rates: ratesOf(given),
    report: (fault) => reported.push(fault),
    now: () => 0,
    ...options
  })
  return { faultDraw, reported }
}
