/**
 * The port that measures the length of a sound. Transcription is charged by the minute, so the length must be known
 * before a model is asked.
 */
import { Context, Schema } from "effect"
import type { Effect } from "effect"

/** The file is not a sound in a known format, or is too costly to read. */
export class SoundUnreadable extends Schema.TaggedError<SoundUnreadable>()("SoundUnreadable", {
  reason: Schema.Literals(["unknown_format", "too_long", "busy"])
}) {}

export class SoundProbe extends Context.Service<
  SoundProbe,
  {
    /**
     * Returns the length of the file at `path` in milliseconds, above zero. Bounded in time and memory for every
     * content.
     */
    readonly durationMs: (path: string) => Effect.Effect<number, SoundUnreadable>
  }
>()("@sluice/domain/inference/audio/SoundProbe") {}
