/** Faults by their rates, and what struck. */
import { chance } from "@sluice/machine-shell/Chance"
import { CALL_FAULTS, type FaultRates, PLANNED_FAULTS, type Strike } from "@sluice/simulator/faults/Fault"
import { type FaultDrawOptions, FaultDraw } from "@sluice/simulator/faults/FaultDraw"

export const ratesOf = (given: Partial<FaultRates>): FaultRates => ({
  ...(Object.fromEntries([...CALL_FAULTS, ...PLANNED_FAULTS].map((fault) => [fault, 0])) as FaultRates),
  ...given
})

export const strikesOf = (given: Partial<FaultRates>, seed = 1, options: Partial<FaultDrawOptions> = {}) => {
  const reported: Array<Strike> = []
  const strikes = new FaultDraw({
    chance: chance(seed),
    rates: ratesOf(given),
    report: (strike) => reported.push(strike),
    now: () => 0,
    ...options
  })
  return { strikes, reported }
}
