/**
 * The ports to the worlds that speak, listen and make videos: parts of a `ModelProvider`. What a model makes comes whole,
 * within the bounds that its entry in the catalog names; a video is made in the background and fetched when it is there.
 */
import type { Effect, Stream } from "effect"
import type { NanoUsd } from "../billing/Money.ts"
import type { UpstreamFailed } from "./UpstreamFailed.ts"

/** A model that speaks. */
export interface SpeechModel {
  readonly id: string
  readonly created: number
  readonly ownedBy: string
  /** The first where none is asked for. */
  readonly voices: readonly [string, ...ReadonlyArray<string>]
  /** Characters (code points) of an input at most. */
  readonly maxInputCharacters: number
  /** Nano-USD for one million characters. */
  readonly characterPrice: NanoUsd
}

/** `pcm`: 24 kHz, 16 bits little-endian, one channel. */
export const SPEECH_FORMATS = ["mp3", "pcm", "wav"] as const
export type SpeechFormat = (typeof SPEECH_FORMATS)[number]

export interface SpeechTask {
  readonly input: string
  readonly voice: string
  readonly format: SpeechFormat
  /** 0.25 to 4; 1 is the voice's own. */
  readonly speed: number
  readonly instructions: string | undefined
}

export interface SpeechProvider {
  readonly models: ReadonlyArray<SpeechModel>
  /** A file of the asked format. */
  readonly speak: (model: SpeechModel, task: SpeechTask) => Effect.Effect<Uint8Array, UpstreamFailed>
}

/** A model that writes down what is said. */
export interface TranscriptionModel {
  readonly id: string
  readonly created: number
  readonly ownedBy: string
  /** Seconds of the longest sound that it takes. */
  readonly maxSeconds: number
  /** Nano-USD for one minute of sound. */
  readonly minutePrice: NanoUsd
}

export interface TranscriptionTask {
  /** The file as it was sent: read from where it is spooled, when it is read. */
  readonly file: Blob
  /** Where it is spooled, for what reads it in a thread of its own. */
  readonly path: string
  readonly fileName: string
  readonly durationMs: number
  /** ISO 639-1; undefined: the model finds out. */
  readonly language: string | undefined
  readonly prompt: string | undefined
  readonly temperature: number | undefined
}

/** A part of what was said; times are from the start of the sound. */
export interface Spoken {
  readonly startMs: number
  readonly endMs: number
  readonly text: string
}

export interface Transcript {
  readonly text: string
  /** ISO 639-1. */
  readonly language: string
  /** Sentences or so, in order. */
  readonly segments: ReadonlyArray<Spoken>
  /** Empty where the model tells none. */
  readonly words: ReadonlyArray<Spoken>
}

export interface TranscriptionProvider {
  readonly models: ReadonlyArray<TranscriptionModel>
  readonly transcribe: (model: TranscriptionModel, task: TranscriptionTask) => Effect.Effect<Transcript, UpstreamFailed>
}

/** A model that makes videos. */
export interface VideoModel {
  readonly id: string
  readonly created: number
  readonly ownedBy: string
  /** Width x height in pixels; the first where none is asked for. */
  readonly sizes: readonly [string, ...ReadonlyArray<string>]
  /** Lengths in seconds; the first where none is asked for. */
  readonly seconds: readonly [number, ...ReadonlyArray<number>]
  /** Nano-USD for one second of video. */
  readonly secondPrice: NanoUsd
}

export interface VideoTask {
  /** Asking twice under one id makes one video. */
  readonly id: string
  readonly prompt: string
  readonly size: string
  readonly seconds: number
  /** What the video begins with. */
  readonly image: { readonly bytes: Uint8Array; readonly contentType: string } | undefined
}

/** Why there is no video: what was asked for is not allowed, the model could not, it never ended. */
export type VideoFailure = "moderation_blocked" | "video_generation_failed" | "video_timeout"

export type VideoProgress =
  | { readonly _tag: "Waiting" }
  /** It knows of no such video: one that was ordered just now may be there soon. */
  | { readonly _tag: "Absent" }
  /** 0 to 100. */
  | { readonly _tag: "Filming"; readonly percent: number }
  | { readonly _tag: "Completed" }
  | { readonly _tag: "Failed"; readonly code: VideoFailure }

/** `end` is inclusive, undefined: to the end of the file; or the last `suffix` bytes of it. */
export type ByteRange = { readonly start: number; readonly end: number | undefined } | { readonly suffix: number }

/** Bytes of a video: `[start, end)` of `size`. */
export interface VideoBytes {
  readonly size: number
  readonly start: number
  readonly end: number
  readonly bytes: Stream.Stream<Uint8Array, UpstreamFailed>
}

export interface VideoProvider {
  readonly models: ReadonlyArray<VideoModel>
  /** Begins it, and gives the name under which the provider knows it. */
  readonly submit: (model: VideoModel, task: VideoTask) => Effect.Effect<string, UpstreamFailed>
  readonly look: (model: VideoModel, reference: string) => Effect.Effect<VideoProgress, UpstreamFailed>
  /** Of a video that is completed. A range that begins behind its end gives nothing, from there. */
  readonly read: (
    model: VideoModel,
    reference: string,
    range: ByteRange | undefined
  ) => Effect.Effect<VideoBytes, UpstreamFailed>
  /** Forgets it; of one that is not known nothing is said. */
  readonly remove: (model: VideoModel, reference: string) => Effect.Effect<void, UpstreamFailed>
}
