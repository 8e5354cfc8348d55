/**
 * Answers of POST /audio/transcriptions in each format: schemas for the OpenAPI document, and the texts that the server
 * sends.
 */
import { toUsd } from "@sluice/domain/billing/Money"
import type { Spoken } from "@sluice/domain/models/MediaProvider"
import type { TranscriptionRequest } from "@sluice/domain/inference/audio/TranscriptionRequest"
import type { TranscriptionAnswer } from "@sluice/domain/inference/audio/Transcriptions"
import * as Schema from "effect/Schema"

const Usage = Schema.Struct({
  type: Schema.Literal("duration"),
  seconds: Schema.Finite.annotate({ description: "Seconds of sound" }),
  cost: Schema.Finite.annotate({ description: "USD" })
})

const Seconds = Schema.Finite.annotate({ description: "Seconds from the start" })

export const TranscriptWire = Schema.Struct({ text: Schema.String, usage: Usage }).annotate({
  identifier: "Transcription"
})

const NotReported = Schema.Finite.annotate({ description: "Always 0: the models do not report it" })

/** Typed clients refuse a segment without any of these fields. */
const Segment = Schema.Struct({
  id: Schema.Int,
  seek: Schema.Int.annotate({ description: "Start of its window of 30 s, in frames of 10 ms" }),
  start: Seconds,
  end: Seconds,
  text: Schema.String,
  tokens: Schema.Array(Schema.Int).annotate({ description: "Always empty: the models do not report tokens" }),
  temperature: Schema.Finite,
  avg_logprob: NotReported,
  compression_ratio: NotReported,
  no_speech_prob: NotReported
})

export const VerboseTranscriptWire = Schema.Struct({
  task: Schema.Literal("transcribe"),
  language: Schema.String.annotate({ description: "The English name, such as `english`" }),
  duration: Schema.Finite.annotate({ description: "Seconds" }),
  text: Schema.String,
  segments: Schema.optionalKey(Schema.Array(Segment)),
  words: Schema.optionalKey(Schema.Array(Schema.Struct({ word: Schema.String, start: Seconds, end: Seconds }))),
  usage: Usage
}).annotate({ identifier: "VerboseTranscription" })

export interface RenderedTranscript {
  readonly contentType: string
  readonly body: string
}

export const renderTranscript = (request: TranscriptionRequest, answer: TranscriptionAnswer): RenderedTranscript => {
  const { segments, text } = answer.transcript
  if (request.stream) return { contentType: "text/event-stream", body: events(answer) }
  switch (request.format) {
    case "json":
      return json({ text, usage: usageOf(answer) } satisfies typeof TranscriptWire.Type)
    case "verbose_json":
      return json(verbose(request, answer))
    case "text":
      return plain(`${text}\n`)
    case "srt":
      return plain(segments.map((part, index) => `${index + 1}\n${cue(part, ",", captionOf(part))}`).join("\n"))
    case "vtt":
      return plain(`WEBVTT\n\n${segments.map((part) => cue(part, ".", escapeCaption(captionOf(part)))).join("\n")}`)
  }
}

const json = (value: unknown) => ({ contentType: "application/json", body: JSON.stringify(value) })
const plain = (body: string) => ({ contentType: "text/plain; charset=utf-8", body })

const usageOf = ({ cost, durationMs }: TranscriptionAnswer) => ({
  type: "duration" as const,
  seconds: durationMs / 1_000,
  cost: toUsd(cost)
})

/** Length of a window of `seek`, and its unit. */
const [WINDOW_MS, FRAME_MS] = [30_000, 10]

const verbose = (request: TranscriptionRequest, answer: TranscriptionAnswer): typeof VerboseTranscriptWire.Type => {
  const { language, segments, text, words } = answer.transcript
  const temperature = request.temperature ?? 0
  const times = ({ endMs, startMs }: Spoken) => ({ start: startMs / 1_000, end: endMs / 1_000 })
  return {
    task: "transcribe",
    language: nameOf(language),
    duration: answer.durationMs / 1_000,
    text,
    ...(request.segments
      ? {
          segments: segments.map((part, id) => ({
            id,
            seek: Math.floor(part.startMs / WINDOW_MS) * (WINDOW_MS / FRAME_MS),
            ...times(part),
            text: part.text,
            tokens: [],
            temperature,
            avg_logprob: 0,
            compression_ratio: 0,
            no_speech_prob: 0
          }))
        }
      : {}),
    ...(request.words ? { words: words.map((word) => ({ word: word.text, ...times(word) })) } : {}),
    usage: usageOf(answer)
  }
}

/** OpenAI's clients expect the English name of the language here. */
const nameOf = (code: string): string => {
  try {
    if (code === "und") return "unknown"
    return new Intl.DisplayNames(["en"], { type: "language" }).of(code)?.toLowerCase() ?? code
  } catch {
    return code
  }
}

const cue = (part: Spoken, point: string, caption: string): string =>
  `${clock(part.startMs, point)} --> ${clock(part.endMs, point)}\n${caption}\n`

/** One line, because an empty line ends a cue; and without the arrow `-->`, at which players drop the cue. */
const captionOf = ({ text }: Spoken): string =>
  text
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join(" ")
    .replaceAll(/-{2,}>/g, "->")

/** Escapes the characters of WebVTT's tags and entities. */
const escapeCaption = (caption: string): string => caption.replaceAll("&", "&amp;").replaceAll("<", "&lt;")

/** Returns `00:01:02,345`. */
const clock = (ms: number, point: string): string => {
  const two = (n: number) => String(Math.floor(n)).padStart(2, "0")
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1_000) % 60)}${point}${String(ms % 1_000).padStart(3, "0")}`
}

/** Returns one delta per sentence, which together are the text, and a last event with the text and the usage. */
const events = (answer: TranscriptionAnswer): string => {
  const { segments, text } = answer.transcript
  const deltas = splitAtSegments(text, segments).map((delta) => ({ type: "transcript.text.delta", delta }))
  return [...deltas, { type: "transcript.text.done", text, usage: usageOf(answer) }]
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join("")
}

/**
 * Splits the text where segments end. The separators come from the text itself, because not every language uses spaces.
 */
const splitAtSegments = (text: string, segments: ReadonlyArray<Spoken>): ReadonlyArray<string> => {
  const pieces: Array<string> = []
  let from = 0
  for (const part of segments) {
    const words = part.text.trim()
    const at = text.indexOf(words, from)
    if (at < 0) break
    const end = at + words.length
    if (end > from) pieces.push(text.slice(from, end))
    from = end
  }
  return from < text.length ? [...pieces, text.slice(from)] : pieces
}
