/**
 * The port to what runs a machine's command. A run is a pure function of its `ShellRun`: the same one gives the same
 * timeline to the byte, in any process, at any time. It is executed ahead of time on a clock of the machine's own, so it
 * takes no longer than the work in it; who observes the machine reads the timeline up to now.
 */
import type { Effect } from "effect"
import { Context } from "effect"
import type { Programs } from "./Programs.ts"

/** One entry of a volume; `path` is relative to `/workspace`, `mode` holds the permission bits. */
export type VolumeEntry =
  | { readonly _tag: "File"; readonly path: string; readonly mode: number; readonly bytes: Uint8Array }
  | { readonly _tag: "Directory"; readonly path: string; readonly mode: number }
  | { readonly _tag: "Link"; readonly path: string; readonly target: string }

/** The GPUs that `nvidia-smi` shows. */
export interface ShellGpu {
  /** `NVIDIA H100 80GB HBM3`. */
  readonly name: string
  readonly memoryMib: number
  readonly powerWatts: number
  readonly computeCapability: string
  readonly count: number
}

/** Plain data: it travels to worker threads. Times are Unix milliseconds of the world's clock. */
export interface ShellRun {
  readonly command: string
  /** Plain values, secrets among them: never to be logged. */
  readonly env: Readonly<Record<string, string>>
  readonly files: ReadonlyArray<VolumeEntry>
  readonly hostname: string
  readonly gpu: ShellGpu
  /** What the machine has beside its own commands. */
  readonly programs?: Programs
  readonly seed: number
  readonly startedAt: number
  /** The run is cut here; `Infinity` for no limit. */
  readonly untilMs: number
  /** Whether the timeline shall carry what `/workspace` holds at its end. */
  readonly keepFiles: boolean
}

/** What was written at one moment. */
export interface Chunk {
  readonly at: number
  readonly bytes: Uint8Array
}

export interface Timeline {
  /** In the order of their times; no two have the same one. */
  readonly chunks: ReadonlyArray<Chunk>
  /** Null: the command still ran at `untilMs`. */
  readonly exit: { readonly at: number; readonly code: number } | null
  readonly files: ReadonlyArray<VolumeEntry>
  /** It was ended because the host could not give it more time or memory: another run may differ. */
  readonly overran: boolean
}

export class Shell extends Context.Service<
  Shell,
  {
    /** Never fails: whatever the command does is in its timeline. `slow` is called where it takes the host long. */
    readonly run: (run: ShellRun, slow?: () => void) => Effect.Effect<Timeline>
    /** How long those wait for a run who will look again; left out: until it is made. */
    readonly patience?: Effect.Effect<void>
  }
>()("@sluice/machine-shell/Shell") {}

/** The timeline of a command that the host ended with SIGKILL as soon as it began. */
export const killed = (run: ShellRun, reason: string): Timeline => ({
  chunks: [{ at: run.startedAt, bytes: new TextEncoder().encode(`simulated machine: killed: ${reason}\n`) }],
  exit: { at: run.startedAt, code: 137 },
  files: run.keepFiles ? run.files : [],
  overran: true
})
