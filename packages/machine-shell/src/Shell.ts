/**
 * The port to the machine shell, which runs the command of a machine. A run is a pure function of its `ShellRun`: the
 * same run gives the same timeline to the byte, in any process, at any time. It is executed ahead of time on a clock of
 * its own, so it takes only the host time of the work in it. An observer of the machine reads the timeline up to the
 * present.
 */
import type { Effect } from "effect"
import { Context } from "effect"
import type { Programs } from "./Programs.ts"

/** One entry of a volume. `path` is relative to `/workspace`; `mode` holds the permission bits. */
export type VolumeEntry =
  | { readonly _tag: "File"; readonly path: string; readonly mode: number; readonly bytes: Uint8Array }
  | { readonly _tag: "Directory"; readonly path: string; readonly mode: number }
  | { readonly _tag: "Link"; readonly path: string; readonly target: string }

/** The GPUs that `nvidia-smi` shows. */
export interface ShellGpu {
  /** For example `NVIDIA H100 80GB HBM3`. */
  readonly name: string
  readonly memoryMib: number
  readonly powerWatts: number
  readonly computeCapability: string
  readonly count: number
}

/** Plain data, since it travels to worker threads. Times are Unix milliseconds of the world's clock. */
export interface ShellRun {
  readonly command: string
  /** Plain values, secrets among them: never log them. */
  readonly env: Readonly<Record<string, string>>
  readonly files: ReadonlyArray<VolumeEntry>
  readonly hostname: string
  readonly gpu: ShellGpu
  /** Programs that the machine has beside its own commands. */
  readonly programs?: Programs
  readonly seed: number
  readonly startedAt: number
  /** The run is cut at this time; `Infinity`: no limit. */
  readonly untilMs: number
  /** True: the timeline carries the files that `/workspace` holds at its end. */
  readonly keepFiles: boolean
}

/** The output of one moment. */
export interface Chunk {
  readonly at: number
  readonly bytes: Uint8Array
}

export interface Timeline {
  /** In the order of their times. No two chunks have the same time. */
  readonly chunks: ReadonlyArray<Chunk>
  /** Null: the command still ran at `untilMs`. */
  readonly exit: { readonly at: number; readonly code: number } | null
  readonly files: ReadonlyArray<VolumeEntry>
  /**
   * True: the host ended the run because it could give no more time or memory. Another run may give another timeline.
   */
  readonly overran: boolean
}

export class Shell extends Context.Service<
  Shell,
  {
    /**
     * Returns the timeline and never fails: a failure of the command is part of its timeline. Calls `slow` when the run
     * takes long on the host.
     */
    readonly run: (run: ShellRun, slow?: () => void) => Effect.Effect<Timeline>
    /**
     * Ends when an observer that polls again has waited long enough for a run. Absent: the observer waits until the run
     * is done.
     */
    readonly patience?: Effect.Effect<void>
  }
>()("@sluice/machine-shell/Shell") {}

/** Returns the timeline of a command that the host killed with SIGKILL at its start. */
export const killedTimeline = (run: ShellRun, reason: string): Timeline => ({
  chunks: [{ at: run.startedAt, bytes: new TextEncoder().encode(`simulated machine: killed: ${reason}\n`) }],
  exit: { at: run.startedAt, code: 137 },
  files: run.keepFiles ? run.files : [],
  overran: true
})
