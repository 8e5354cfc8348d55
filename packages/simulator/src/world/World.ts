/**
 * The supply and the speed of the simulated world: GPU types, regions, capacity, latencies, refusals. Plain JSON, so
 * that a scenario can set it. Durations are milliseconds of the world's clock, each drawn from its range for each
 * machine.
 */
import type { Programs } from "@sluice/machine-shell/Programs"

type Range = readonly [from: number, to: number]

export interface WorldGpuType {
  readonly id: string
  readonly name: string
  readonly memoryGb: number
  readonly memoryMib: number
  readonly powerWatts: number
  readonly computeCapability: string
  readonly maxGpuCount: number
  readonly priceUsdPerGpuHour: number
  /** GPUs by region. */
  readonly capacity: Readonly<Record<string, number>>
}

export interface World {
  readonly seed: number
  readonly regions: ReadonlyArray<{ readonly id: string; readonly name: string }>
  readonly gpuTypes: ReadonlyArray<WorldGpuType>
  /** From the launch to the machine that runs and costs money. */
  readonly launchMs: Range
  /** From the running machine to the start of the command. */
  readonly setUpMs: Range
  /** From the request to stop to the machine that is gone. */
  readonly stopMs: Range
  /** GPU types whose launches are all refused. */
  readonly refuse: ReadonlyArray<string>
  /** Programs that machines have beside their own commands. */
  readonly programs?: Programs
}

const gpuType = (
  id: string,
  name: string,
  memory: readonly [gb: number, mib: number],
  powerWatts: number,
  computeCapability: string,
  maxGpuCount: number,
  priceUsdPerGpuHour: number,
  capacity: Readonly<Record<string, number>>
): WorldGpuType => ({
  id,
  name,
  memoryGb: memory[0],
  memoryMib: memory[1],
  powerWatts,
  computeCapability,
  maxGpuCount,
  priceUsdPerGpuHour,
  capacity
})

/** The world without a scenario. */
export const defaultWorld: World = {
  seed: 1,
  regions: [
    { id: "eu-north", name: "Europe North" },
    { id: "us-east", name: "US East" },
    { id: "us-west", name: "US West" }
  ],
  gpuTypes: [
    gpuType("H100", "NVIDIA H100 80GB HBM3", [80, 81559], 700, "9.0", 8, 2.99, { "eu-north": 16, "us-east": 32 }),
    gpuType("H200", "NVIDIA H200", [141, 143771], 700, "9.0", 8, 3.79, { "us-east": 8 }),
    gpuType("A100", "NVIDIA A100-SXM4-80GB", [80, 81920], 400, "8.0", 8, 1.69, { "eu-north": 16, "us-west": 16 }),
    gpuType("L40S", "NVIDIA L40S", [48, 46068], 350, "8.9", 8, 0.99, { "eu-north": 8, "us-west": 8 }),
    gpuType("RTX4090", "NVIDIA GeForce RTX 4090", [24, 24564], 450, "8.9", 4, 0.44, { "eu-north": 8, "us-east": 8 })
  ],
  launchMs: [3_000, 12_000],
  setUpMs: [1_000, 4_000],
  stopMs: [500, 2_000],
  refuse: []
}

/** A world without delays and with room for everything, for benchmarks of the service. */
export const instantWorld: World = {
  ...defaultWorld,
  gpuTypes: defaultWorld.gpuTypes.map((type) => ({
    ...type,
    capacity: Object.fromEntries(Object.keys(type.capacity).map((region) => [region, 1_000_000_000]))
  })),
  launchMs: [0, 0],
  setUpMs: [0, 0],
  stopMs: [0, 0]
}
