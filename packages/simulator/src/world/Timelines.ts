/**
 * The runs of the machines' commands, each made once and shared by who asks. Kept within a bound: a timeline that was
 * dropped is made again from its record, and comes out the same.
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
/** What a chunk or a file takes beside its bytes: a line of two bytes takes this much more. */
const PART_BYTES = 256
/** Commands run ahead of anyone's look while fewer than this wait for a shell. */
const MAX_AHEAD = 256
const OVERRAN = "the host ran out of time or memory for this command"

interface Entry {
  readonly fiber: Fiber.Fiber<Timeline, ProviderUnavailable>
  timeline: Timeline | undefined
  bytes: number
  /** A caller gave up waiting once (it will ask again); later ones don't wait. */
  late: boolean
  /** Done where it takes the host long. */
  readonly slow: Deferred.Deferred<undefined>
}

const make = Effect.gen(function* () {
  const shell = yield* Shell
  const seal = yield* Seal
  const volumes = yield* VolumeFilesStore
  const store = yield* WorldStore
  const scope = yield* Effect.scope
  /** Least recently used first. */
  const entries = new Map<string, Entry>()
  let bytes = 0
  let running = 0

  const opened = (key: string, sealed: Uint8Array) =>
    seal.open(sealed, sealedFor(key)).pipe(
      Effect.map((text) => decodeEnv(Redacted.value(text))),
      Effect.mapError((cause) => new ProviderUnavailable({ cause }))
    )

  const execute = Effect.fnUntraced(function* (record: LaunchRecord, untilMs: number, slow?: () => void) {
    const { key, plan, sealed, volumeId, mounted, launchedAt, ordinal } = record
    const env = sealed === null ? {} : yield* opened(key, sealed)
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

  const started = Effect.fnUntraced(function* (record: LaunchRecord) {
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
    const entry: Entry = { fiber, timeline: undefined, bytes: 0, late: false, slow }
    entries.set(record.key, entry)
    // An observer hears of a fiber that was interrupted before it began, too.
    fiber.addObserver((exit) => finish(record.key, entry, exit._tag === "Success" ? exit.value : undefined))
    return entry
  })

  const made = Effect.fnUntraced(function* ({ fiber, timeline }: Entry) {
    if (timeline !== undefined) return timeline
    const exit = yield* Fiber.await(fiber)
    // Forgotten meanwhile: who asks again finds the machine released.
    return yield* Exit.hasInterrupts(exit) ? new ProviderUnavailable({ cause: exit.cause }) : exit
  })

  return {
    /** The whole run, up to its own end or its machine's limit. Only for records with a command and a launch. */
    of: (record: LaunchRecord) => Effect.flatMap(started(record), made),

    /**
     * The same; undefined if not ready soon: a running machine will be looked at again. A stopped one may be looked at for
     * the last time, so only a run that takes the host long is not waited for.
     */
    soon: Effect.fnUntraced(function* (record: LaunchRecord) {
      const entry = yield* started(record)
      if (entry.timeline !== undefined) return entry.timeline
      if (record.stopAt !== null) return yield* Effect.raceFirst(made(entry), Deferred.await(entry.slow))
      if (entry.late) return undefined
      if (shell.patience === undefined) return yield* made(entry)
      const patience = Effect.map(shell.patience, () => {
        entry.late = true
        return undefined
      })
      return yield* Effect.raceFirst(made(entry), patience)
    }),

    /** Begins the run unless many wait already; does not wait for it. */
    ahead: (record: LaunchRecord) => (running < MAX_AHEAD ? Effect.asVoid(started(record)) : Effect.void),

    /** The run if it was made and is still here. */
    peek: (key: string) => entries.get(key)?.timeline,

    /** The run as it was at one moment, everything of that millisecond included. */
    until: (record: LaunchRecord, at: number) => execute(record, at + 1),

    /** Drops the run of a machine that is gone, and breaks it off where it is not made yet. */
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

/** Binds the sealed variables of a machine to their row. */
export const sealedFor = (key: string): string => `sim_machines/${key}/sealed`

const decodeEnv = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Record(Schema.String, Schema.String)))
