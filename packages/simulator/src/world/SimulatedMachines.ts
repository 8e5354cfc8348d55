/**
 * The simulated machines behind the machine port. A launch or a stop is in the database before it is answered;
 * everything else follows from the rows and the time. So the world goes on while no server runs, and replicas see one
 * world.
 */
import { fromUsd } from "@sluice/domain/billing/Money"
import { Seal } from "@sluice/domain/database/Seal"
import type { LaunchSpec, Observation } from "@sluice/domain/machines/MachineProvider"
import {
  LaunchRefused,
  MachineProvider,
  NoCapacity,
  ProviderUnavailable
} from "@sluice/domain/machines/MachineProvider"
import { Clock, Effect, Layer, Redacted } from "effect"
import { launchOf, recordOf, refusalOf } from "./LaunchRecord.ts"
import type { LaunchRecord } from "./LaunchRecord.ts"
import { MachineOutputs } from "./MachineOutputs.ts"
import { endOf, hasCommandStarted, view } from "./MachineView.ts"
import { sealContextOf, Timelines } from "./Timelines.ts"
import { sizeOf, VolumeFilesStore } from "./VolumeFilesStore.ts"
import type { World } from "./World.ts"
import { WorldBatches } from "./WorldBatches.ts"
import { WorldStore } from "./WorldStore.ts"

const make = (world: World) =>
  Effect.gen(function* () {
    const store = yield* WorldStore
    const volumes = yield* VolumeFilesStore
    const timelines = yield* Timelines
    const seal = yield* Seal
    const clock = yield* Clock.Clock
    const now = () => clock.currentTimeMillisUnsafe()
    const prices = new Map(world.gpuTypes.map((type) => [type.id, fromUsd(type.priceUsdPerGpuHour)]))
    const batches = yield* WorldBatches
    const outputs = yield* MachineOutputs
    yield* store.setCapacity(capacityRows(world))

    const observe = Effect.fnUntraced(function* (record: LaunchRecord | undefined) {
      if (record === undefined) return absentAt(now())
      const timeline = hasCommandStarted(record, now()) ? yield* timelines.getSoon(record) : undefined
      return view(record, timeline, now())
    })

    const sealEnv = (key: string, env: LaunchSpec["env"]) => {
      const values = Object.fromEntries([...env].map(([name, value]) => [name, Redacted.value(value)]))
      return seal.seal(Redacted.make(JSON.stringify(values)), sealContextOf(key))
    }

    const launch = Effect.fn("SimulatedMachines.launch")(function* (spec: LaunchSpec) {
      const reason = refusalOf(world, spec)
      if (reason !== undefined) return yield* new LaunchRefused({ reason })
      const row = launchOf(world, spec, sealEnv)
      const { ordinal, at } = yield* batches.launch(row)
      if (ordinal === null) return yield* new NoCapacity()
      if (ordinal < 0) return yield* observe(yield* batches.find(spec.key))
      const fresh = recordOf(row, ordinal, at)
      const record = row.volumeId === null ? fresh : ((yield* batches.find(spec.key)) ?? fresh)
      if (spec.command !== undefined) yield* timelines.startAhead(record)
      return view(record, timelines.peek(spec.key), now())
    })

    /** Returns the volume's entries at the moment of the stop; null when the command never started to change them. */
    const entriesAtStop = Effect.fnUntraced(function* (record: LaunchRecord) {
      const stopAt = record.stopAt!
      if (!hasCommandStarted(record, stopAt)) return null
      const timeline = yield* timelines.get(record)
      if (endOf(record, timeline).why !== "stopped") return timeline.files
      return (yield* timelines.runUntil(record, stopAt)).files
    })

    const stop = Effect.fn("SimulatedMachines.stop")(function* (key: string) {
      const before = yield* batches.stop(key)
      outputs.wake(key)
      if (before === undefined || before.volumeId === null || before.saved) return
      const record = yield* batches.find(key)
      if (record === undefined || record.volumeId === null || record.saved || record.plan === null) return
      const left = yield* entriesAtStop(record)
      const kept = record.mounted === null ? 0 : yield* volumes.size(record.volumeId, record.mounted)
      yield* volumes.save(key, record.volumeId, left, left === null ? kept : sizeOf(left))
    })

    return MachineProvider.of({
      name: "simulator",
      capabilities: { visibleWithinMs: 0 },
      regions: world.regions.map((region) => ({ ...region, provider: "simulator" })),
      priceOf: (gpuType) => prices.get(gpuType),
      gpuTypes: Effect.map(
        Effect.suspend(() => store.free(now())),
        (free) =>
          world.gpuTypes.map((type) => ({
            id: type.id,
            name: type.name,
            memoryGb: type.memoryGb,
            maxGpuCount: type.maxGpuCount,
            priceNanoUsdPerGpuHour: prices.get(type.id)!,
            regions: Object.keys(type.capacity),
            available: Math.max(0, free.get(type.id) ?? 0)
          }))
      ),
      launch,
      observe: (key) => Effect.flatMap(batches.find(key), observe),
      read: outputs.read,
      follow: outputs.follow,
      stop,
      // A machine whose command was not observed yet is listed as running: the listing says that it exists.
      list: Effect.map(store.listed, (records) =>
        records.map((record) => ({ key: record.key, state: view(record, timelines.peek(record.key), now()).state }))
      ),
      release: (key) => Effect.andThen(batches.release(key), timelines.forget(key)),
      deleteVolume: Effect.fn("SimulatedMachines.deleteVolume")(function* (volumeId) {
        if (yield* volumes.remove(volumeId, now())) return
        return yield* new ProviderUnavailable({ cause: `volume ${volumeId} is mounted` })
      })
    })
  })

/** Provides the simulated machines as the `MachineProvider`. */
export const layer = (world: World) =>
  Layer.effect(MachineProvider, make(world)).pipe(
    Layer.provide(MachineOutputs.layer),
    Layer.provide([Timelines.layer, WorldBatches.layer]),
    Layer.provide(VolumeFilesStore.layer),
    Layer.provide(WorldStore.layer)
  )

const absentAt = (at: number): Observation => ({
  state: { _tag: "Absent" },
  at,
  nextAt: Infinity,
  nextOutputAt: Infinity
})

const capacityRows = (world: World) =>
  world.gpuTypes.flatMap((type) =>
    Object.entries(type.capacity).map(([region, total]) => ({ gpu_type: type.id, region, total }))
  )
