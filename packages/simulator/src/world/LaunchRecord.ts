/**
 * The record of a launch. With the record and the time everything about a simulated machine is known, in any process.
 * The state of the world at the launch is part of the record, so a changed scenario leaves living machines as they are.
 */
import type { LaunchSpec } from "@sluice/domain/machines/MachineProvider"
import { between, draw } from "@sluice/machine-shell/Chance"
import type { Programs } from "@sluice/machine-shell/Programs"
import type { ShellGpu } from "@sluice/machine-shell/Shell"
import type { World, WorldGpuType } from "./World.ts"

type Range = readonly [number, number]

/** The part of a launch that is stored as JSON. */
export interface LaunchPlan {
  readonly command: string | null
  readonly maxRuntimeMs: number | null
  readonly gpu: ShellGpu
  readonly programs?: Programs
  readonly seed: number
  readonly launchMs: Range
  readonly setUpMs: Range
  readonly stopMs: Range
}

/** A row of the world. Times are Unix milliseconds of the world's clock. */
export interface LaunchRecord {
  readonly key: string
  readonly ordinal: number
  /** Null for a key that was stopped before any launch, and for a released machine. */
  readonly plan: LaunchPlan | null
  readonly sealed: Uint8Array | null
  readonly volumeId: string | null
  /** The version of the volume that was mounted; null for an empty volume. */
  readonly mounted: string | null
  readonly launchedAt: number | null
  readonly stopAt: number | null
  readonly stoppedAt: number | null
  readonly saved: boolean
  readonly volumeBytes: number | null
  readonly overran: boolean
}

export interface MachineTimes {
  readonly runningAt: number
  readonly commandAt: number
  /** The time at which the world ends the command; `Infinity`: never. */
  readonly deadlineAt: number
}

export const timesOf = (ordinal: number, launchedAt: number, plan: LaunchPlan): MachineTimes => {
  const runningAt = launchedAt + between(draw(plan.seed, `launch:${ordinal}`), ...plan.launchMs)
  const commandAt = runningAt + between(draw(plan.seed, `set-up:${ordinal}`), ...plan.setUpMs)
  return { runningAt, commandAt, deadlineAt: plan.maxRuntimeMs === null ? Infinity : commandAt + plan.maxRuntimeMs }
}

export const stopDelayOf = (ordinal: number, plan: LaunchPlan): number =>
  between(draw(plan.seed, `stop:${ordinal}`), ...plan.stopMs)

/** A launch that is requested. */
export interface NewLaunch {
  readonly key: string
  readonly gpuType: string
  readonly gpuCount: number
  /** The preferred region, which is taken if it has room; null: no preference. */
  readonly region: string | null
  readonly plan: LaunchPlan
  readonly sealed: Uint8Array | null
  readonly volumeId: string | null
}

/** Returns the reason why the world never launches this machine; undefined when it may. */
export const refusalOf = (world: World, spec: LaunchSpec): string | undefined => {
  const type = typeOf(world, spec)
  if (type === undefined) return `no machine has GPUs of type ${spec.gpuType}`
  if (world.refuse.includes(spec.gpuType)) return `the simulated world refuses machines with ${spec.gpuType}`
  if (spec.gpuCount <= type.maxGpuCount) return undefined
  return `a machine has at most ${type.maxGpuCount} GPUs of type ${spec.gpuType}`
}

/** Returns the row of a launch that is not refused. */
export const launchOf = (
  world: World,
  spec: LaunchSpec,
  seal: (key: string, env: LaunchSpec["env"]) => Uint8Array
): NewLaunch => ({
  key: spec.key,
  gpuType: spec.gpuType,
  gpuCount: spec.gpuCount,
  region: world.regions.find((region) => region.id === spec.region)?.id ?? null,
  volumeId: spec.volumeId ?? null,
  sealed: spec.env.size === 0 ? null : seal(spec.key, spec.env),
  plan: {
    command: spec.command ?? null,
    maxRuntimeMs: spec.maxRuntimeMs ?? null,
    gpu: gpuOf(typeOf(world, spec)!, spec.gpuCount),
    ...(world.programs === undefined ? {} : { programs: world.programs }),
    seed: world.seed,
    launchMs: world.launchMs,
    setUpMs: world.setUpMs,
    stopMs: world.stopMs
  }
})

/**
 * Returns the record of a machine that was launched just now. Only the store knows the version of its volume that it
 * mounted.
 */
export const recordOf = (launch: NewLaunch, ordinal: number, launchedAt: number): LaunchRecord => ({
  key: launch.key,
  ordinal,
  plan: launch.plan,
  sealed: launch.sealed,
  volumeId: launch.volumeId,
  mounted: null,
  launchedAt,
  stopAt: null,
  stoppedAt: null,
  saved: false,
  volumeBytes: null,
  overran: false
})

const typeOf = (world: World, spec: LaunchSpec) => world.gpuTypes.find((type) => type.id === spec.gpuType)

const gpuOf = ({ name, memoryMib, powerWatts, computeCapability }: WorldGpuType, count: number): ShellGpu => ({
  name,
  memoryMib,
  powerWatts,
  computeCapability,
  count
})
