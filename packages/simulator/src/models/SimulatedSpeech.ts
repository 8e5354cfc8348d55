/**
 * Voices and ears of the simulated world. A voice leaves its words in the file, as people leave lyrics in theirs; the ear
 * gives them back. In a sound from elsewhere it hears words of its own, always the same ones, as many as fit its length.
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

/** A second of speech takes this long to make, and a second of sound to hear. */
const SPEAKING_MS = 40
const HEARING_MS = 25
/** A listener in a quiet room hears two and a half words a second. */
const MS_PER_WORD = 400
const MAX_WORDS = 5_000
/** Bytes of a sound from elsewhere that its words follow from. */
const LISTENED = 65_536

export const simulatedSpeech = (
  seed: number,
  models: ReadonlyArray<SpeechModel>,
  studio: Studio["Service"],
  paced: boolean
): SpeechProvider => ({
  models,
  speak: (model, { format, input, speed, voice }) => {
    const seconds = durationOf(input, speed) / 1_000
    const key = textHash(textHash(seed, model.id), voice)
    return Effect.andThen(
      Effect.sleep(paced ? 200 + SPEAKING_MS * seconds : 0),
      studio.render({ kind: "sound", text: input, key, speed, format })
    )
  }
})

export const simulatedEars = (
  seed: number,
  models: ReadonlyArray<TranscriptionModel>,
  studio: Studio["Service"],
  paced: boolean,
  beside: Beside
): TranscriptionProvider => ({
  models,
  transcribe: (_model, { durationMs, file, language, path }) =>
    Effect.gen(function* () {
      yield* Effect.sleep(paced ? 300 + (HEARING_MS * durationMs) / 1_000 : 0)
      const said = yield* studio.wordsOf(path)
      const text = said?.trim().replace(/\s+/g, " ") ?? (yield* beside(heardIn(file, durationMs, seed)))
      const words = wordsOf(text, durationMs)
      return { text, language: language ?? "en", segments: sentencesOf(words), words }
    })
})

const heardIn = (file: Blob, durationMs: number, seed: number): Effect.Effect<string> =>
  Effect.map(
    Effect.promise(() => file.slice(0, LISTENED).arrayBuffer()),
    (buffer) => {
      const key = textHash(seed, `${file.size} ${String.fromCharCode(...new Uint8Array(buffer).subarray(0, 4_096))}`)
      return statements(key, Math.max(1, Math.min(MAX_WORDS, Math.floor(durationMs / MS_PER_WORD))))
    }
  )
