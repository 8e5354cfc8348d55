/** Adds faults to the ports of a simulated world. All servers of a world share one of these. */
import type { MachineProviderService } from "@sluice/domain/machines/MachineProvider"
import type { ModelProviderService } from "@sluice/domain/models/ModelProvider"
import type { Shell } from "@sluice/machine-shell/Shell"
import { chance } from "@sluice/machine-shell/Chance"
import type { FaultRates } from "./Fault.ts"
import { faultyMachines } from "./FaultyMachines.ts"
import { faultyModels } from "./FaultyModels.ts"
import { FaultyWorld } from "./FaultyWorld.ts"
import { LogFloods } from "./LogFloods.ts"
import type { FaultDraw } from "./FaultDraw.ts"

export interface WorldFaults {
  readonly machines: (inner: MachineProviderService) => MachineProviderService
  readonly models: (inner: ModelProviderService) => ModelProviderService
  readonly shell: (inner: Shell["Service"]) => Shell["Service"]
}

export const worldFaults = (seed: number, rates: FaultRates, faultDraw: FaultDraw): WorldFaults => {
  const world = new FaultyWorld()
  const floods = new LogFloods({ chance: chance(seed), rates, faultDraw, subjectOf: ({ hostname }) => hostname })
  return {
    machines: (inner) => faultyMachines(inner, faultDraw, { world }),
    models: (inner) => faultyModels(inner, faultDraw),
    shell: (inner) => floods.shell(inner)
  }
}
