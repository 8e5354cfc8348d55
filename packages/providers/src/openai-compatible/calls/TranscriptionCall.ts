/** What is said in a sound, from one upstream: with times where the server tells them, as one segment where not. */
import type { Spoken, Transcript, TranscriptionTask } from "@sluice/domain/models/MediaProvider"
import { Effect } from "effect"
import { FormData } from "undici"
import { kept } from "../upstream/BodyText.ts"
import { callFailed } from "../upstream/CallFailed.ts"
import { field, list, number, text } from "../upstream/Loose.ts"
import { json } from "../upstream/Reply.ts"
import type { Call } from "../upstream/Upstreams.ts"

const MAX_BYTES = 64 * 1024 * 1024

export const transcriptionCall =
  (task: TranscriptionTask): Call<Transcript, never> =>
  (lease) =>
    Effect.suspend(() => {
      const { omit, model } = lease.upstream
      const { language, prompt, temperature } = task
      const form = new FormData()
      for (const [name, value] of kept(
        { model, response_format: "verbose_json", language, prompt, temperature },
        omit
      )) {
        form.append(name, String(value))
      }
      if (!omit.has(GRANULARITIES)) for (const kind of ["segment", "word"]) form.append(GRANULARITIES, kind)
      form.append("file", task.file, task.fileName)
      const exchange = lease.send({
        method: "POST",
        path: "/audio/transcriptions",
        accept: "application/json",
        body: form,
        mostBytes: MAX_BYTES
      })
      return Effect.flatMap(json(exchange, lease), (value) => {
        const transcript = transcriptOf(value, task)
        return transcript === undefined ? Effect.fail(callFailed("malformed")) : Effect.succeed(transcript)
      })
    })

const GRANULARITIES = "timestamp_granularities[]"

/** Undefined: it says nothing, not even that nothing is said. */
export const transcriptOf = (
  value: unknown,
  { durationMs, language }: Pick<TranscriptionTask, "durationMs" | "language">
): Transcript | undefined => {
  const said = text(field(value, "text"))
  if (said === undefined) return undefined
  const told = list(field(value, "segments"))
  const segments = spokenOf(told, durationMs)
  const words = list(field(value, "words"))
  return {
    text: said,
    language: codeOf(text(field(value, "language"))) ?? language ?? "und",
    segments: segments.length > 0 || said.trim() === "" ? segments : [{ startMs: 0, endMs: durationMs, text: said }],
    // Those of LocalAI may be with their segments alone.
    words: spokenOf(words.length > 0 ? words : told.flatMap((one) => list(field(one, "words"))), durationMs)
  }
}

/** In order and within the sound, whatever the server says. A word's text is its `word`, for LocalAI its `text`. */
const spokenOf = (told: ReadonlyArray<unknown>, durationMs: number): ReadonlyArray<Spoken> =>
  told
    .flatMap((one): ReadonlyArray<Spoken> => {
      const said = text(field(one, "word")) ?? text(field(one, "text"))
      const [start, end] = [number(field(one, "start")), number(field(one, "end"))]
      if (said === undefined || start === undefined) return []
      const startMs = within(start, 0, durationMs)
      return [{ text: said, startMs, endMs: within(end ?? start, startMs, durationMs) }]
    })
    .sort((a, b) => a.startMs - b.startMs)

const within = (seconds: number, leastMs: number, mostMs: number): number =>
  Math.max(leastMs, Math.min(Math.round(seconds * 1_000), Math.max(leastMs, mostMs)))

/** `en` for `en`, `en-US` and `English`: Whisper tells names. */
const codeOf = (language: string | undefined): string | undefined => {
  if (language === undefined) return undefined
  const code = /^([a-z]{2,3})(?:[-_]|$)/.exec(language.toLowerCase())?.[1]
  return code ?? CODES.get(language.toLowerCase())
}

const LETTERS = [..."abcdefghijklmnopqrstuvwxyz"]
const NAMES = new Intl.DisplayNames(["en"], { type: "language", fallback: "none" })
/** The English names of the languages of ISO 639-1, and those that Whisper has beside them. */
const CODES: ReadonlyMap<string, string> = new Map([
  ...LETTERS.flatMap((first) =>
    LETTERS.flatMap((second): ReadonlyArray<readonly [string, string]> => {
      const name = NAMES.of(first + second)
      return name === undefined ? [] : [[name.toLowerCase(), first + second]]
    })
  ),
  ["haitian creole", "ht"],
  ["myanmar", "my"],
  ["moldavian", "ro"],
  ["valencian", "ca"],
  ["flemish", "nl"],
  ["castilian", "es"],
  ["mandarin", "zh"],
  ["sinhala", "si"]
])
