/**
 * Makes a sound that is like speech: each letter is a beat with a color of its own, a vowel a tone with two formants, a
 * consonant a hiss or a hum, and the pitch falls towards the end of a sentence. It is no human voice, but a listener
 * recognizes speech.
 */
import { textHash, unit } from "./Draws.ts"
import { BEAT_MS, beatsIn } from "./SpokenText.ts"

export const SAMPLE_RATE = 24_000
const LOUDNESS = 0.35 * 32_767
/** The part of a beat in which it swells, and in which it fades. */
const EDGE = 0.2

/** First and second formant in Hz. */
const VOWELS: Readonly<Record<string, readonly [number, number]>> = {
  a: [730, 1_090],
  e: [530, 1_840],
  i: [270, 2_290],
  o: [570, 840],
  u: [300, 870],
  y: [280, 2_100]
}

/** Returns 16-bit samples of one channel. */
export const speechSound = (text: string, key: number, speed: number): Int16Array<ArrayBuffer> => {
  const beats = beatsIn(text)
  const perBeat = Math.max(1, Math.round((SAMPLE_RATE * BEAT_MS) / 1_000 / speed))
  const samples = new Int16Array(Math.max(2, beats.length) * perBeat)
  const pitch = 95 + 130 * unit(key, 1)
  let phase = 0
  for (const [index, letter] of beats.entries()) {
    const colour = letter === undefined ? undefined : colourOf(letter.toLowerCase(), key)
    if (colour === undefined) continue
    const tone = (pitch * (1.08 - 0.16 * placeInSentence(beats, index)) * 2 * Math.PI) / SAMPLE_RATE
    for (let i = 0; i < perBeat; i++) {
      phase += tone
      const part = i / perBeat
      const swell = Math.min(1, part / EDGE, (1 - part) / EDGE)
      const hum = Math.sin(phase) + 0.5 * Math.sin(2 * phase) + 0.3 * Math.sin(3 * phase)
      const ring = Math.sin((2 * Math.PI * colour.first * i) / SAMPLE_RATE) * 0.5
      const shine = Math.sin((2 * Math.PI * colour.second * i) / SAMPLE_RATE) * 0.3
      const hiss = 2 * unit(key, index * perBeat + i) - 1
      const voiced = (hum * 0.5 + (ring + shine) * (0.6 + 0.4 * Math.sin(phase))) * (1 - colour.noise)
      samples[index * perBeat + i] = LOUDNESS * swell * Math.max(-1, Math.min(1, voiced + hiss * colour.noise))
    }
  }
  return samples
}

interface Colour {
  readonly first: number
  readonly second: number
  /** 0: a tone; 1: a hiss. */
  readonly noise: number
}

const colourOf = (letter: string, key: number): Colour => {
  const vowel = VOWELS[letter]
  if (vowel !== undefined) return { first: vowel[0], second: vowel[1], noise: 0.03 }
  const own = textHash(key, letter)
  return { first: 200 + 400 * unit(own, 1), second: 900 + 1_600 * unit(own, 2), noise: 0.15 + 0.5 * unit(own, 3) }
}

/**
 * Returns the number of beats since the last pause, as a part of `SENTENCE`: 0 at the beginning of a sentence, at most
 * 1.
 */
const placeInSentence = (beats: ReadonlyArray<string | undefined>, index: number): number => {
  let before = 0
  while (before < SENTENCE && beats[index - before - 1] !== undefined) before++
  return Math.min(1, before / SENTENCE)
}
const SENTENCE = 12
