/**
 * Machines that are there at once, say a line and exit with 0, and models without latency: enough world for the routes.
 * `refused` is never launched, and is in us-east alone.
 */
import type { MachineProviderService, MachineState } from "@sluice/domain/machines/MachineProvider"
import { LaunchRefused, MachineProvider } from "@sluice/domain/machines/MachineProvider"
import * as NodeSoundProbe from "@sluice/server/media/NodeSoundProbe"
import * as StudioWorkers from "@sluice/server/world/StudioWorkers"
import * as NodeTokens from "@sluice/server/tokens/NodeTokens"
import { instant } from "@sluice/simulator/models/ModelWorld"
import * as SimulatedModels from "@sluice/simulator/models/SimulatedModels"
import { Clock, Effect, Layer, Stream } from "effect"

const OUTPUT = new TextEncoder().encode("hello from the machine\n")
const type = (id: string, regions = ["eu-north", "us-east"]) => ({
  id,
  name: id,
  memoryGb: 80,
  maxGpuCount: 8,
  priceNanoUsdPerGpuHour: 2_000_000_000n,
  regions,
  available: 64
})

const machines = Layer.sync(MachineProvider, () => {
  const known = new Map<string, { startedAt: number; stoppedAt: number | null }>()
  const stateOf = (key: string): MachineState => {
    const machine = known.get(key)
    if (machine === undefined) return { _tag: "Absent" }
    const { startedAt, stoppedAt } = machine
    const command = { _tag: "Exited", startedAt, exitedAt: startedAt, code: 0, why: "exit" } as const
    return stoppedAt === null
      ? { _tag: "Running", since: startedAt, command }
      : { _tag: "Stopped", since: startedAt, stoppedAt, command, volumeBytes: null }
  }
  const observation = (key: string) => ({ state: stateOf(key), at: 0, nextAt: null, nextOutputAt: null })
  const read = (from: number) => ({ offset: from, bytes: OUTPUT.subarray(from) })
  const provider: MachineProviderService = {
    name: "test",
    capabilities: { visibleWithinMs: 0 },
    gpuTypes: Effect.succeed([type("H100"), type("refused", ["us-east"])]),
    regions: ["eu-north", "us-east"].map((id) => ({ id, name: id, provider: "test" })),
    priceOf: () => 2_000_000_000n,
    launch: (spec) =>
      spec.gpuType === "refused"
        ? Effect.fail(new LaunchRefused({ reason: "no such machine is ever launched" }))
        : Effect.map(Clock.currentTimeMillis, (now) => {
            if (!known.has(spec.key)) known.set(spec.key, { startedAt: now, stoppedAt: null })
            return observation(spec.key)
          }),
    observe: (key) => Effect.sync(() => observation(key)),
    read: (_key, from) => Effect.succeed(read(from)),
    follow: (_key, from) => Stream.fromIterable(from < OUTPUT.length ? [read(from)] : []),
    stop: (key) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const machine = known.get(key) ?? { startedAt: now, stoppedAt: null }
        known.set(key, { ...machine, stoppedAt: machine.stoppedAt ?? now })
      }),
    list: Effect.sync(() => [...known.keys()].map((key) => ({ key, state: stateOf(key) }))),
    release: (key) => Effect.sync(() => void known.delete(key)),
    deleteVolume: () => Effect.void
  }
  return provider
})

const models = SimulatedModels.layer(instant(1)).pipe(Layer.provide(StudioWorkers.layer))

export const testWorld = Layer.mergeAll(machines, models).pipe(
  Layer.provideMerge(Layer.mergeAll(NodeTokens.layer, NodeSoundProbe.layer))
)
