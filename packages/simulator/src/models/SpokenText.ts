/**
 * Computes the times of the words of a spoken text, for the voice that speaks it and for the model that transcribes it.
 */
import type { Spoken } from "@sluice/domain/models/MediaProvider"

/** Beats of the characters that are pauses. Every other character is one beat. */
const BEATS: Readonly<Record<string, number>> = { " ": 1, ",": 3, ";": 3, ":": 3, ".": 6, "!": 6, "?": 6, "\n": 6 }
/** Milliseconds of a beat at speed 1: about 150 words a minute. */
export const BEAT_MS = 65

const beatsOf = (character: string): number => BEATS[character] ?? 1

export const durationOf = (text: string, speed: number): number => Math.max(2, lengthOf(text)) * (BEAT_MS / speed)

const lengthOf = (text: string): number => {
  let beats = 0
  for (const character of text) beats += beatsOf(character)
  return beats
}

/** Returns the character of each beat, in order; `undefined` is silence. */
export const beatsIn = (text: string): ReadonlyArray<string | undefined> =>
  [...text].flatMap((character) =>
    BEATS[character] === undefined ? [character] : Array.from({ length: beatsOf(character) }, () => undefined)
  )

/** Returns the words of a text that takes `durationMs` in all, with their times. */
export const wordsOf = (text: string, durationMs: number): ReadonlyArray<Spoken> => {
  const beatMs = durationMs / Math.max(1, lengthOf(text))
  const words: Array<Spoken> = []
  let at = 0
  for (const [part] of text.matchAll(/\s+|\S+/g)) {
    const start = at
    at += lengthOf(part)
    if (/\S/.test(part)) words.push({ startMs: Math.round(start * beatMs), endMs: Math.round(at * beatMs), text: part })
  }
  return words
}

/** Returns the sentences that the words make. A long sentence is cut. */
export const sentencesOf = (words: ReadonlyArray<Spoken>): ReadonlyArray<Spoken> => {
  const sentences: Array<Array<Spoken>> = [[]]
  for (const word of words) {
    const current = sentences.at(-1)!
    current.push(word)
    if (/[.!?]$/.test(word.text) || current.length === MAX_WORDS) sentences.push([])
  }
  return sentences
    .filter((sentence) => sentence.length > 0)
    .map((sentence) => ({
      startMs: sentence[0]!.startMs,
      endMs: sentence.at(-1)!.endMs,
      text: sentence.map(({ text }) => text).join(" ")
    }))
}
const MAX_WORDS = 30
