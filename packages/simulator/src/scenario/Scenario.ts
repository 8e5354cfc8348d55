/** Reads a scenario file: returns the worlds that it describes, or every fault of the file. */
import { issuesIn, record, findRepeatedIds } from "@sluice/domain/files/JsonFile"
import {
  chatModel,
  embeddingModel,
  imageModel,
  speechModel,
  transcriptionModel,
  videoModel
} from "@sluice/domain/models/ModelEntry"
import { Result, Schema } from "effect"
import { type FaultRates, noFaults } from "../faults/Fault.ts"
import { defaultWorld as defaultModels, type ModelWorld, type SimulatedModel } from "../models/ModelWorld.ts"
import { defaultWorld, type World, type WorldGpuType } from "../world/World.ts"
import { issuesOf } from "@sluice/machine-shell/Programs"
import { type GpuTypeEntry, type ScenarioModelEntry, ScenarioFile } from "./ScenarioFile.ts"

export interface Scenario {
  readonly machines: World
  readonly models: ModelWorld
  readonly faults: FaultRates
}

/** Returns the worlds of a file, or its faults. Every random number of the worlds follows from `seed`. */
export const scenarioOf = (file: unknown, seed: number): Result.Result<Scenario, ReadonlyArray<string>> => {
  const decoded = decode(file)
  const issues = [
    ...(Result.isFailure(decoded)
      ? issuesIn(decoded.failure)
      : [...unknownRegions(decoded.success), ...issuesOf(decoded.success.programs ?? {})]),
    ...findRepeatedIds(file, "regions", "id"),
    ...findRepeatedIds(file, "gpu_types", "gpu_type"),
    ...findRepeatedIds(file, "models", "id")
  ]
  if (Result.isFailure(decoded) || issues.length > 0) return Result.fail(issues)
  const given = decoded.success
  return Result.succeed({
    machines: machinesOf(given, seed),
    models: modelsOf(given, seed),
    faults: { ...noFaults, ...given.faults }
  })
}

const decode = Schema.decodeUnknownResult(ScenarioFile, { errors: "all", onExcessProperty: "error" })

/** Returns the regions that have capacity but are not among the regions of the file. */
const unknownRegions = (given: ScenarioFile): ReadonlyArray<string> => {
  const known = new Set((given.regions ?? defaultWorld.regions).map(({ id }) => id))
  const list = [...known].join(", ")
  if (given.gpu_types === undefined) {
    const hasUnknown = defaultWorld.gpuTypes.some(({ capacity }) => Object.keys(capacity).some((id) => !known.has(id)))
    return hasUnknown ? ["regions leave out some that the default gpu_types are in; give gpu_types as well"] : []
  }
  return given.gpu_types.flatMap(({ capacity }, at) =>
    Object.keys(capacity)
      .filter((id) => !known.has(id))
      .map((id) => `gpu_types[${at}].capacity.${id} is none of the regions; there are ${list}`)
  )
}

const machinesOf = (given: ScenarioFile, seed: number): World => ({
  ...defaultWorld,
  seed,
  regions: given.regions ?? defaultWorld.regions,
  gpuTypes: given.gpu_types?.map(gpuTypeOf) ?? defaultWorld.gpuTypes,
  launchMs: msOf(given.launch_seconds) ?? defaultWorld.launchMs,
  setUpMs: msOf(given.set_up_seconds) ?? defaultWorld.setUpMs,
  stopMs: msOf(given.stop_seconds) ?? defaultWorld.stopMs,
  ...(given.programs === undefined ? {} : { programs: given.programs }),
  refuse: (given.gpu_types ?? []).flatMap(({ gpu_type, refused }) => (refused === true ? [gpu_type] : []))
})

const msOf = (seconds: readonly [number, number] | undefined): readonly [number, number] | undefined =>
  seconds === undefined ? undefined : [Math.round(seconds[0] * 1_000), Math.round(seconds[1] * 1_000)]

const gpuTypeOf = (entry: GpuTypeEntry): WorldGpuType => ({
  id: entry.gpu_type,
  name: entry.name ?? entry.gpu_type,
  memoryGb: entry.memory_gb,
  memoryMib: entry.memory_mib ?? entry.memory_gb * 1_024,
  powerWatts: entry.power_watts ?? 400,
  computeCapability: entry.compute_capability ?? "8.0",
  maxGpuCount: entry.max_gpu_count,
  priceUsdPerGpuHour: entry.price_per_gpu_hour,
  capacity: entry.capacity
})

const modelsOf = (given: ScenarioFile, seed: number): ModelWorld => {
  const world = { ...defaultModels(seed), latency: given.model_latency ?? ("paced" as const) }
  const { models } = given
  if (models === undefined) return world
  const of = <K extends ScenarioModelEntry["kind"], M>(
    kind: K,
    model: (entry: Extract<ScenarioModelEntry, { kind: K }>) => M
  ) => models.filter((entry): entry is Extract<ScenarioModelEntry, { kind: K }> => entry.kind === kind).map(model)
  return {
    ...world,
    models: of("chat", simulatedChat),
    embeddings: of("embeddings", embeddingModel),
    images: of("images", imageModel),
    speech: of("speech", speechModel),
    transcription: of("transcription", transcriptionModel),
    videos: of("video", videoModel)
  }
}

const simulatedChat = (entry: Extract<ScenarioModelEntry, { kind: "chat" }>): SimulatedModel => ({
  ...chatModel(entry),
  latency: {
    firstMs: entry.latency?.first_ms ?? 180,
    tokensPerSecond: entry.latency?.tokens_per_second ?? 90,
    jitter: entry.latency?.jitter ?? 0.3
  },
  words: entry.words ?? [25, 60]
})

/** Returns true when a file sets the models of the world. */
export const setsModels = (file: unknown): boolean => record(file)["models"] !== undefined
