/**
 * The timelines of the machines' commands. Each is computed once and shared by all readers, within a bound: an evicted
 * timeline is computed again from its record, with the same result.
 */
import { Seal } from "@sluice/domain/database/Seal"
import { ProviderUnavailable } from "@sluice/domain/machines/MachineProvider"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Redacted, Schema } from "effect"
import { hash32 } from "@sluice/machine-shell/Chance"
import { killedTimeline, Shell } from "@sluice/machine-shell/Shell"
import type { Timeline } from "@sluice/machine-shell/Shell"
import { timesOf } from "./LaunchRecord.ts"
import type { LaunchRecord } from "./LaunchRecord.ts"
import { sizeOf, VolumeFilesStore } from "./VolumeFilesStore.ts"
import { WorldStore } from "./WorldStore.ts"

const MAX_ENTRIES = 20_000
const MAX_BYTES = 256 * 1024 * 1024
/** Memory of a chunk or a file beside its bytes: a line of two bytes takes this much more. */
const PART_BYTES = 256
/** A command runs before its first observation while fewer runs than this wait for a shell. */
const MAX_AHEAD = 256
const OVERRAN = "the host ran out of time or memory for this command"

interface Entry {
  readonly fiber: Fiber.Fiber<Timeline, ProviderUnavailable>
  timeline: Timeline | undefined
  bytes: number
  /** True: a reader timed out once, and polls again. Later readers do not wait. */
  isLate: boolean
  /** Done when the run takes the host long. */
  readonly slow: Deferred.Deferred<undefined>
}

const make = Effect.gen(function* () {
  const shell = yield* Shell
  const seal = yield* Seal
  const volumes = yield* VolumeFilesStore
  const store = yield* WorldStore
  const scope = yield* Effect.scope
  /** The least recently used first. */
  const entries = new Map<string, Entry>()
  let bytes = 0
  let running = 0

  const openEnv = (key: string, sealed: Uint8Array) =>
    seal.open(sealed, sealContextOf(key)).pipe(
      Effect.map((text) => decodeEnv(Redacted.value(text))),
      Effect.mapError((cause) => new ProviderUnavailable({ cause }))
    )

  const execute = Effect.fnUntraced(function* (record: LaunchRecord, untilMs: number, slow?: () => void) {
    const { key, plan, sealed, volumeId, mounted, launchedAt, ordinal } = record
    const env = sealed === null ? {} : yield* openEnv(key, sealed)
    const { commandAt, deadlineAt } = timesOf(ordinal, launchedAt!, plan!)
    const run = {
      command: plan!.command!,
      env,
      files: volumeId === null || mounted === null ? [] : yield* volumes.load(volumeId, mounted),
      hostname: `machine-${key.slice(-8)}`,
      gpu: plan!.gpu,
      programs: plan!.programs ?? {},
      seed: hash32(plan!.seed, `machine:${ordinal}`),
      startedAt: commandAt,
      untilMs: Math.min(deadlineAt, untilMs),
      keepFiles: volumeId !== null
    }
    if (record.overran) return killedTimeline(run, OVERRAN)
    const timeline = yield* shell.run(run, slow)
    if (timeline.overran) yield* store.markOverran(key)
    return timeline
  })

  const evict = () => {
    for (const [key, entry] of entries) {
      if (entries.size <= MAX_ENTRIES && bytes <= MAX_BYTES) return
      if (entry.timeline === undefined) continue
      entries.delete(key)
      bytes -= entry.bytes
    }
  }

  const finish = (key: string, entry: Entry, timeline: Timeline | undefined) => {
    running--
    if (entries.get(key) !== entry) return
    if (timeline === undefined) {
      entries.delete(key)
      return
    }
    entry.timeline = timeline
    entry.bytes = bytesOf(timeline)
    bytes += entry.bytes
    evict()
  }

  const startRun = Effect.fnUntraced(function* (record: LaunchRecord) {
    const known = entries.get(record.key)
    if (known !== undefined) {
      entries.delete(record.key)
      entries.set(record.key, known)
      return known
    }
    running++
    const slow = Deferred.makeUnsafe<undefined>()
    const run = execute(record, Infinity, () => Deferred.doneUnsafe(slow, Exit.succeed(undefined)))
    const fiber = yield* Effect.forkIn(run, scope)
    const entry: Entry = { fiber, timeline: undefined, bytes: 0, isLate: false, slow }
    entries.set(record.key, entry)
    // The observer is also called for a fiber that was interrupted before it began.
    fiber.addObserver((exit) => finish(record.key, entry, exit._tag === "Success" ? exit.value : undefined))
    return entry
  })

  const awaitTimeline = Effect.fnUntraced(function* ({ fiber, timeline }: Entry) {
    if (timeline !== undefined) return timeline
    const exit = yield* Fiber.await(fiber)
    // The run was dropped meanwhile: a retry finds the machine released.
    return yield* Exit.hasInterrupts(exit) ? new ProviderUnavailable({ cause: exit.cause }) : exit
  })

  return {
    /**
     * Returns the whole timeline, up to its own end or its machine's limit. Only for records with a command and a
     * launch.
     */
    get: (record: LaunchRecord) => Effect.flatMap(startRun(record), awaitTimeline),

    /**
     * Returns the timeline; undefined when it is not ready soon, since a running machine is polled again. A stopped
     * machine may be observed for the last time, so its reader waits, but not for a run that takes the host long.
     */
    getSoon: Effect.fnUntraced(function* (record: LaunchRecord) {
      const entry = yield* startRun(record)
      if (entry.timeline !== undefined) return entry.timeline
      if (record.stopAt !== null) return yield* Effect.raceFirst(awaitTimeline(entry), Deferred.await(entry.slow))
      if (entry.isLate) return undefined
      if (shell.patience === undefined) return yield* awaitTimeline(entry)
      const patience = Effect.map(shell.patience, () => {
        entry.isLate = true
        return undefined
      })
      return yield* Effect.raceFirst(awaitTimeline(entry), patience)
    }),

    /** Starts the run unless many wait already. Does not wait for it. */
    startAhead: (record: LaunchRecord) => (running < MAX_AHEAD ? Effect.asVoid(startRun(record)) : Effect.void),

    /** Returns the timeline if it is ready and not evicted. */
    peek: (key: string) => entries.get(key)?.timeline,

    /** Returns the timeline up to one moment, with everything of that millisecond. */
    runUntil: (record: LaunchRecord, at: number) => execute(record, at + 1),

    /** Drops the timeline of a machine that is gone, and interrupts a run that is not ready. */
    forget: (key: string) =>
      Effect.sync(() => {
        const entry = entries.get(key)
        if (entry === undefined) return
        entries.delete(key)
        bytes -= entry.bytes
        entry.fiber.interruptUnsafe()
      })
  }
})

export class Timelines extends Context.Service<Timelines, Effect.Success<typeof make>>()(
  "@sluice/simulator/world/Timelines"
) {
  static readonly layer = Layer.effect(Timelines, make)
}

const bytesOf = ({ chunks, files }: Timeline): number =>
  chunks.reduce((size, chunk) => size + chunk.bytes.length, sizeOf(files)) + PART_BYTES * (chunks.length + files.length)

/** Returns the context that binds a machine's sealed variables to their row. */
export const sealContextOf = (key: string): string => `sim_machines/${key}/sealed`

const decodeEnv = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Record(Schema.String, Schema.String)))
