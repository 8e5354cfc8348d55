/**
 * The port to what renders sound and film beside the event loop: encoding takes seconds of a processor. What comes out
 * follows from the task alone, to the byte.
 */
import type { SpeechFormat } from "@sluice/domain/models/MediaProvider"
import type { UpstreamFailed } from "@sluice/domain/models/UpstreamFailed"
import { Context } from "effect"
import type { Effect } from "effect"

/** Does what takes time of this machine and none of the world's: a clock that the world moves stands still for it. */
export type Beside = <A>(work: Effect.Effect<A>) => Effect.Effect<A>

export interface SoundTask {
  readonly kind: "sound"
  readonly text: string
  /** Who speaks: pitch and colour follow from it. */
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
    /** The text that was given to the voice of this sound; undefined: it was not made here, or its words are lost. */
    readonly wordsOf: (path: string) => Effect.Effect<string | undefined>
  }
>()("@sluice/simulator/models/Studio") {}
