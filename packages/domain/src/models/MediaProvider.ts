/**
 * The ports to models for speech, transcription and video: parts of a `ModelProvider`. Speech and transcripts are
 * returned whole, within the bounds of the model's catalog entry. A video is made in the background and read when it is
 * complete.
 */
import type { Effect, Stream } from "effect"
import type { NanoUsd } from "../billing/Money.ts"
import type { UpstreamFailed } from "./UpstreamFailed.ts"

/** A model that makes speech of a text. */
export interface SpeechModel {
  readonly id: string
  readonly created: number
  readonly ownedBy: string
  /** The first is the default. */
  readonly voices: readonly [string, ...ReadonlyArray<string>]
  /** Maximum characters (code points) of an input. */
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
  /** 0.25 to 4; 1 is the voice's normal speed. */
  readonly speed: number
  readonly instructions: string | undefined
}

export interface SpeechProvider {
  readonly models: ReadonlyArray<SpeechModel>
  /** Returns a file of the task's format. */
  readonly speak: (model: SpeechModel, task: SpeechTask) => Effect.Effect<Uint8Array, UpstreamFailed>
}

/** A model that transcribes speech. */
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
  /** The uploaded file. Its bytes are read from the spool file when they are needed. */
  readonly file: Blob
  /** The path of the spool file, for a reader in another thread. */
  readonly path: string
  readonly fileName: string
  readonly durationMs: number
  /** ISO 639-1; undefined: the model detects it. */
  readonly language: string | undefined
  readonly prompt: string | undefined
  readonly temperature: number | undefined
}

/** A part of a transcript. Times are from the start of the sound. */
export interface Spoken {
  readonly startMs: number
  readonly endMs: number
  readonly text: string
}

export interface Transcript {
  readonly text: string
  /** ISO 639-1. */
  readonly language: string
  /** About one sentence each, in order. */
  readonly segments: ReadonlyArray<Spoken>
  /** Empty if the model returns none. */
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
  /** Width x height in pixels; the first is the default. */
  readonly sizes: readonly [string, ...ReadonlyArray<string>]
  /** Lengths in seconds; the first is the default. */
  readonly seconds: readonly [number, ...ReadonlyArray<number>]
  /** Nano-USD for one second of video. */
  readonly secondPrice: NanoUsd
}

export interface VideoTask {
  /** Two submits with one id make one video. */
  readonly id: string
  readonly prompt: string
  readonly size: string
  readonly seconds: number
  /** The first frame of the video. */
  readonly image: { readonly bytes: Uint8Array; readonly contentType: string } | undefined
}

/** The reason of a failed video: the content is not allowed, the model failed, or it did not end in time. */
export const videoFailures = ["moderation_blocked", "video_generation_failed", "video_timeout"] as const
export type VideoFailure = (typeof videoFailures)[number]

export type VideoProgress =
  | { readonly _tag: "Waiting" }
  /** The provider does not know the video: a video ordered just now may appear soon. */
  | { readonly _tag: "Absent" }
  /** 0 to 100. */
  | { readonly _tag: "Filming"; readonly percent: number }
  | { readonly _tag: "Completed" }
  | { readonly _tag: "Failed"; readonly code: VideoFailure }

/** `end` is inclusive; undefined: to the end of the file. `suffix`: the last bytes of the file. */
export type ByteRange = { readonly start: number; readonly end: number | undefined } | { readonly suffix: number }

/** Bytes `[start, end)` of a video of `size` bytes. */
export interface VideoBytes {
  readonly size: number
  readonly start: number
  readonly end: number
  readonly bytes: Stream.Stream<Uint8Array, UpstreamFailed>
}

export interface VideoProvider {
  readonly models: ReadonlyArray<VideoModel>
  /** Orders a video; returns the provider's reference to it. */
  readonly submit: (model: VideoModel, task: VideoTask) => Effect.Effect<string, UpstreamFailed>
  readonly look: (model: VideoModel, reference: string) => Effect.Effect<VideoProgress, UpstreamFailed>
  /** Reads a completed video. A range that begins after the end returns no bytes. */
  readonly read: (
    model: VideoModel,
    reference: string,
    range: ByteRange | undefined
  ) => Effect.Effect<VideoBytes, UpstreamFailed>
  /** Deletes a video. Succeeds if the provider does not know it. */
  readonly remove: (model: VideoModel, reference: string) => Effect.Effect<void, UpstreamFailed>
}
