/** The ports of a simulated world, with faults that strike their calls. One of these for all servers of a world. */
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

export const worldFaults = (seed: number, rates: FaultRates, strikes: FaultDraw): WorldFaults => {
  const world = new FaultyWorld()
  const floods = new LogFloods({ chance: chance(seed), rates, strikes, subjectOf: ({ hostname }) => hostname })
  return {
    machines: (inner) => faultyMachines(inner, strikes, { world }),
    models: (inner) => faultyModels(inner, strikes),
    shell: (inner) => floods.shell(inner)
  }
}
