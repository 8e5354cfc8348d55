/** The port to what can tell how long a sound is: transcription is charged by the minute, before a model hears it. */
import { Context, Schema } from "effect"
import type { Effect } from "effect"

/** The file is no sound in a format that is known here, or too hard to read. */
export class SoundUnreadable extends Schema.TaggedError<SoundUnreadable>()("SoundUnreadable", {
  reason: Schema.Literals(["unknown_format", "too_long", "busy"])
}) {}

export class SoundProbe extends Context.Service<
  SoundProbe,
  {
    /** Milliseconds, above zero, of the file at this path. Bounded in time and memory whatever it holds. */
    readonly durationMs: (path: string) => Effect.Effect<number, SoundUnreadable>
  }
>()("@sluice/domain/inference/audio/SoundProbe") {}
