/**
 * The port to the world that runs machines: the simulator, and later bubblewrap, Docker, Slurm.
 *
 * Every call is keyed by the machine's or the volume's id, so that saying it twice does it once. A call that fails with
 * `ProviderUnavailable` may or may not have acted: the caller observes and asks again with the same key.
 */
import type { Effect, Redacted, Stream } from "effect"
import { Context, Schema } from "effect"
import type { NanoUsd } from "../billing/Money.ts"
import type { Region } from "../storage/Region.ts"
import type { GpuType } from "./GpuType.ts"

/** All GPUs of the kind are taken just now: ask again later. Nothing was launched. */
export class NoCapacity extends Schema.TaggedError<NoCapacity>()("NoCapacity", {}) {}

/** The provider will never launch this machine. Nothing was launched. `reason` may be shown to the caller. */
export class LaunchRefused extends Schema.TaggedError<LaunchRefused>()("LaunchRefused", { reason: Schema.String }) {}

/** No answer, or one that means nothing: it may have acted. `cause` is for the log only. */
export class ProviderUnavailable extends Schema.TaggedError<ProviderUnavailable>()("ProviderUnavailable", {
  cause: Schema.Defect()
}) {}

/** What a machine is launched with. Values of `env` travel beside the launch script (`LaunchScript`), never in it. */
export interface LaunchSpec {
  /** The machine's id: at most one machine ever exists per key, exited ones included. */
  readonly key: string
  /** The user's command alone, run with bash in `/workspace`; undefined for a machine without a command. */
  readonly command: string | undefined
  readonly env: ReadonlyMap<string, Redacted.Redacted<string>>
  readonly gpuType: string
  readonly gpuCount: number
  readonly template: string
  readonly image: string | undefined
  readonly region: string | undefined
  /** The volume mounted at `/workspace`, saved back when the machine stops. */
  readonly volumeId: string | undefined
  /** The provider's own limit on the command's run time, beside ours. */
  readonly maxRuntimeMs: number | undefined
}

export type CommandState =
  | { readonly _tag: "Pending" }
  | { readonly _tag: "Started"; readonly startedAt: number }
  | {
      readonly _tag: "Exited"
      readonly startedAt: number
      readonly exitedAt: number
      /** Null when the command did not exit by itself (`why` is then not `exit`). */
      readonly code: number | null
      readonly why: "exit" | "timeout" | "stopped"
    }

/** Times are Unix milliseconds of the world's clock. */
export type MachineState =
  /** No machine of this key is known. Right after a launch this may only mean "not visible yet". */
  | { readonly _tag: "Absent" }
  | { readonly _tag: "Launching" }
  /** Billed since `since`, set-up included, whatever the command does. */
  | { readonly _tag: "Running"; readonly since: number; readonly command: CommandState }
  /** Confirmed gone; its workspace is saved. `since` is null when it never ran. */
  | {
      readonly _tag: "Stopped"
      readonly since: number | null
      readonly stoppedAt: number
      readonly command: CommandState
      /** Bytes saved to the volume; null where none was mounted. */
      readonly volumeBytes: number | null
    }
  /** Confirmed gone by failure. */
  | { readonly _tag: "Lost"; readonly since: number | null; readonly lostAt: number; readonly reason: string }

export interface Observation {
  readonly state: MachineState
  /** When this was seen, by the world's clock. What is promised below is a time from here on, whatever another clock says. */
  readonly at: number
  /** The provider's word that the state does not change before this time (ms, `Infinity` for never); null: it does not know. */
  readonly nextAt: number | null
  /** The same for bytes written after now. */
  readonly nextOutputAt: number | null
}

export interface Output {
  /** Position of the first byte in all that the machine wrote. */
  readonly offset: number
  readonly bytes: Uint8Array
}

export interface MachineProviderService {
  readonly name: string
  readonly capabilities: {
    /** How long after a launch was asked for its machine may still be invisible. */
    readonly visibleWithinMs: number
  }
  readonly gpuTypes: Effect.Effect<ReadonlyArray<GpuType>, ProviderUnavailable>
  readonly regions: ReadonlyArray<Region>
  /** Price of one GPU of a type, nano-USD an hour; undefined for an unknown type. Synchronous: it is on the path of a submission. */
  readonly priceOf: (gpuType: string) => NanoUsd | undefined
  /** Launches the machine or finds the one that has this key; never starts one that stopped. */
  readonly launch: (spec: LaunchSpec) => Effect.Effect<Observation, NoCapacity | LaunchRefused | ProviderUnavailable>
  /** A pure look: never starts anything. */
  readonly observe: (key: string) => Effect.Effect<Observation, ProviderUnavailable>
  /** What there is of the output from byte `from`, at most `maxBytes`; empty when nothing more was written yet. */
  readonly read: (key: string, from: number, maxBytes: number) => Effect.Effect<Output, ProviderUnavailable>
  /** The output from byte `from` as it is written; ends when the machine has ended and all was given. */
  readonly follow: (key: string, from: number) => Stream.Stream<Output, ProviderUnavailable>
  /** Asks the machine to stop and save its volume; after it, a launch of this key (a late one too) starts nothing. */
  readonly stop: (key: string) => Effect.Effect<void, ProviderUnavailable>
  readonly list: Effect.Effect<
    ReadonlyArray<{ readonly key: string; readonly state: MachineState }>,
    ProviderUnavailable
  >
  /** Forgets an ended machine; only after its exit, output and volume are durable with us. */
  readonly release: (key: string) => Effect.Effect<void, ProviderUnavailable>
  /** Deletes all that a volume holds, for good; one that is not known holds nothing. While a machine has it mounted: `ProviderUnavailable`. */
  readonly deleteVolume: (volumeId: string) => Effect.Effect<void, ProviderUnavailable>
}

export class MachineProvider extends Context.Service<MachineProvider, MachineProviderService>()(
  "@sluice/domain/machines/MachineProvider"
) {}
