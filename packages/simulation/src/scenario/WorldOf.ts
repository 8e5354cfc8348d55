/** The simulated world of a scenario: its GPUs over the default world's types and regions, in the same proportions. */
import { defaultWorld, type World } from "@sluice/simulator/world/World"
import type { Scenario } from "./Scenario.ts"

const SUM = defaultWorld.gpuTypes.reduce(
  (sum, type) => sum + Object.values(type.capacity).reduce((all, count) => all + count, 0),
  0
)

export const worldOf = (scenario: Pick<Scenario, "seed" | "gpus">): World => ({
  ...defaultWorld,
  seed: scenario.seed,
  gpuTypes: defaultWorld.gpuTypes.map((type) => ({
    ...type,
    capacity: Object.fromEntries(
      // Every region keeps room for at least one machine.
      Object.entries(type.capacity).map(([region, count]) => [
        region,
        Math.max(1, Math.round((count * scenario.gpus) / SUM))
      ])
    )
  }))
})
