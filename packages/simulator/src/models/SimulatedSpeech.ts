/**
 * Speech and transcription of the simulated world. A voice stores its text in the sound file, and the transcription
 * reads it there. For a sound from elsewhere the transcription makes up words, always the same ones for the sound, as
 * many as fit its length.
 */
import type {
  SpeechModel,
  SpeechProvider,
  TranscriptionModel,
  TranscriptionProvider
} from "@sluice/domain/models/MediaProvider"
import { Effect } from "effect"
import { textHash } from "./Draws.ts"
import { statements } from "./Prose.ts"
import { durationOf, sentencesOf, wordsOf } from "./SpokenText.ts"
import type { Beside, Studio } from "./Studio.ts"

/** Milliseconds to make a second of speech, and to transcribe a second of sound. */
const SPEAKING_MS = 40
const HEARING_MS = 25
/** Made-up words: two and a half words a second. */
const MS_PER_WORD = 400
const MAX_WORDS = 5_000
/** Bytes that are read of a sound from elsewhere. Its words follow from the first of them. */
const READ_BYTES = 65_536

export const simulatedSpeech = (
  seed: number,
  models: ReadonlyArray<SpeechModel>,
  studio: Studio["Service"],
  isPaced: boolean
): SpeechProvider => ({
  models,
  speak: (model, { format, input, speed, voice }) => {
    const seconds = durationOf(input, speed) / 1_000
    const key = textHash(textHash(seed, model.id), voice)
    return Effect.andThen(
      Effect.sleep(isPaced ? 200 + SPEAKING_MS * seconds : 0),
      studio.render({ kind: "sound", text: input, key, speed, format })
    )
  }
})

export const simulatedTranscription = (
  seed: number,
  models: ReadonlyArray<TranscriptionModel>,
  studio: Studio["Service"],
  isPaced: boolean,
  beside: Beside
): TranscriptionProvider => ({
  models,
  transcribe: (_model, { durationMs, file, language, path }) =>
    Effect.gen(function* () {
      yield* Effect.sleep(isPaced ? 300 + (HEARING_MS * durationMs) / 1_000 : 0)
      const stored = yield* studio.wordsOf(path)
      const text = stored?.trim().replace(/\s+/g, " ") ?? (yield* beside(makeUpWords(file, durationMs, seed)))
      const words = wordsOf(text, durationMs)
      return { text, language: language ?? "en", segments: sentencesOf(words), words }
    })
})

const makeUpWords = (file: Blob, durationMs: number, seed: number): Effect.Effect<string> =>
  Effect.map(
    Effect.promise(() => file.slice(0, READ_BYTES).arrayBuffer()),
    (buffer) => {
      const key = textHash(seed, `${file.size} ${String.fromCharCode(...new Uint8Array(buffer).subarray(0, 4_096))}`)
      return statements(key, Math.max(1, Math.min(MAX_WORDS, Math.floor(durationMs / MS_PER_WORD))))
    }
  )
