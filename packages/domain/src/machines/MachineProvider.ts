/**
 * The port to the systems that run machines.
 *
 * Every call is idempotent by the id of its machine or volume. A call that fails with `ProviderUnavailable` may have
 * acted: the caller observes, and retries with the same key.
 */
import type { Effect, Redacted, Stream } from "effect"
import { Context, Schema } from "effect"
import type { NanoUsd } from "../billing/Money.ts"
import type { Region } from "../storage/Region.ts"
import type { GpuType } from "./GpuType.ts"

/** All GPUs of the type are taken: retry later. Nothing was launched. */
export class NoCapacity extends Schema.TaggedError<NoCapacity>()("NoCapacity", {}) {}

/** The provider will never launch this machine. Nothing was launched. `reason` may be shown to the caller. */
export class LaunchRefused extends Schema.TaggedError<LaunchRefused>()("LaunchRefused", { reason: Schema.String }) {}

/** The provider did not answer, or its answer has no meaning: it may have acted. `cause` is only for the log. */
export class ProviderUnavailable extends Schema.TaggedError<ProviderUnavailable>()("ProviderUnavailable", {
  cause: Schema.Defect()
}) {}

/** The parameters of a launch. The values of `env` are sent beside the launch script (`LaunchScript`), never in it. */
export interface LaunchSpec {
  /** The machine's id. At most one machine ever exists for a key, exited ones included. */
  readonly key: string
  /** The user's command, run with bash in `/workspace`; undefined for a machine without a command. */
  readonly command: string | undefined
  readonly env: ReadonlyMap<string, Redacted.Redacted<string>>
  readonly gpuType: string
  readonly gpuCount: number
  readonly template: string
  readonly image: string | undefined
  readonly region: string | undefined
  /** The volume that is mounted at `/workspace`, and saved when the machine stops. */
  readonly volumeId: string | undefined
  /** The provider's own limit on the command's run time, in addition to that of the job reconciler. */
  readonly maxRuntimeMs: number | undefined
}

export type CommandState =
  | { readonly _tag: "Pending" }
  | { readonly _tag: "Started"; readonly startedAt: number }
  | {
      readonly _tag: "Exited"
      readonly startedAt: number
      readonly exitedAt: number
      /** Null if the command did not exit by itself (`why` is then not `exit`). */
      readonly code: number | null
      readonly why: "exit" | "timeout" | "stopped"
    }

/** Times are Unix milliseconds of the world's clock. */
export type MachineState =
  /** The provider knows no machine with this key. Right after a launch the machine may only be invisible yet. */
  | { readonly _tag: "Absent" }
  | { readonly _tag: "Launching" }
  /** Billed from `since` on, with its set-up, whatever its command does. */
  | { readonly _tag: "Running"; readonly since: number; readonly command: CommandState }
  /** Confirmed gone, and its volume is saved. `since` is null if it never ran. */
  | {
      readonly _tag: "Stopped"
      readonly since: number | null
      readonly stoppedAt: number
      readonly command: CommandState
      /** Bytes saved to the volume; null if none was mounted. */
      readonly volumeBytes: number | null
    }
  /** Confirmed gone after a failure. */
  | { readonly _tag: "Lost"; readonly since: number | null; readonly lostAt: number; readonly reason: string }

export interface Observation {
  readonly state: MachineState
  /**
   * The time of the observation on the world's clock. `nextAt` and `nextOutputAt` are relative to it, whatever another
   * clock says.
   */
  readonly at: number
  /** The provider guarantees that the state does not change before this time (ms; `Infinity`: never); null: unknown. */
  readonly nextAt: number | null
  /** The same for new output. */
  readonly nextOutputAt: number | null
}

export interface Output {
  /** The offset of the first byte in everything that the machine wrote. */
  readonly offset: number
  readonly bytes: Uint8Array
}

export interface MachineProviderService {
  readonly name: string
  readonly capabilities: {
    /** Time after a launch request for which the machine may be invisible (ms). */
    readonly visibleWithinMs: number
  }
  readonly gpuTypes: Effect.Effect<ReadonlyArray<GpuType>, ProviderUnavailable>
  readonly regions: ReadonlyArray<Region>
  /**
   * Returns the price of one GPU of a type (nano-USD an hour); undefined for an unknown type. Synchronous, because
   * every submission needs it.
   */
  readonly priceOf: (gpuType: string) => NanoUsd | undefined
  /** Launches the machine, or finds the machine that has this key. Never starts a machine that stopped. */
  readonly launch: (spec: LaunchSpec) => Effect.Effect<Observation, NoCapacity | LaunchRefused | ProviderUnavailable>
  /** Observes the machine, without an effect on it. */
  readonly observe: (key: string) => Effect.Effect<Observation, ProviderUnavailable>
  /** Returns the output from byte `from` on, at most `maxBytes`; empty if no more is written yet. */
  readonly read: (key: string, from: number, maxBytes: number) => Effect.Effect<Output, ProviderUnavailable>
  /**
   * Streams the output from byte `from` on as it is written. Ends when the machine has ended and all output was
   * returned.
   */
  readonly follow: (key: string, from: number) => Stream.Stream<Output, ProviderUnavailable>
  /** Stops the machine and saves its volume. After it, a launch with this key (also a late one) starts nothing. */
  readonly stop: (key: string) => Effect.Effect<void, ProviderUnavailable>
  readonly list: Effect.Effect<
    ReadonlyArray<{ readonly key: string; readonly state: MachineState }>,
    ProviderUnavailable
  >
  /** Releases an ended machine. Call it only after its exit, output and volume are durable. */
  readonly release: (key: string) => Effect.Effect<void, ProviderUnavailable>
  /**
   * Deletes the data of a volume for good. Succeeds for an unknown volume. Fails with `ProviderUnavailable` while a
   * machine mounts the volume.
   */
  readonly deleteVolume: (volumeId: string) => Effect.Effect<void, ProviderUnavailable>
}

export class MachineProvider extends Context.Service<MachineProvider, MachineProviderService>()(
  "@sluice/domain/machines/MachineProvider"
) {}
