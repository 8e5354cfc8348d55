/**
 * The port to the renderer of sound and video beside the event loop: encoding takes seconds of a processor. The result
 * depends only on the task, to the byte.
 */
import type { SpeechFormat } from "@sluice/domain/models/MediaProvider"
import type { UpstreamFailed } from "@sluice/domain/models/UpstreamFailed"
import { Context } from "effect"
import type { Effect } from "effect"

/** Runs work that takes time of the host and none of the world: virtual time stands still for it. */
export type Beside = <A>(work: Effect.Effect<A>) => Effect.Effect<A>

export interface SoundTask {
  readonly kind: "sound"
  readonly text: string
  /** The speaker: pitch and color follow from it. */
  readonly key: number
  readonly speed: number
  readonly format: SpeechFormat
}

export interface FilmTask {
  readonly kind: "film"
  readonly key: number
  readonly width: number
  readonly height: number
  readonly seconds: number
}

export type StudioTask = SoundTask | FilmTask

export class Studio extends Context.Service<
  Studio,
  {
    readonly render: (task: StudioTask) => Effect.Effect<Uint8Array, UpstreamFailed>
    /** Returns the text from which this sound was made; undefined for a sound from elsewhere, or without its text. */
    readonly wordsOf: (path: string) => Effect.Effect<string | undefined>
  }
>()("@sluice/simulator/models/Studio") {}
