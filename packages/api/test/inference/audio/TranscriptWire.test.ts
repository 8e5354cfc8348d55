/** Transcripts in their streamed forms, for any spaces of a model's text. */
import { describe, expect, it } from "@effect/vitest"
import { renderTranscript } from "@sluice/api/inference/audio/TranscriptWire"
import type { TranscriptFormat } from "@sluice/domain/inference/audio/TranscriptionRequest"
import fc from "fast-check"

const spoken = (texts: ReadonlyArray<string>) =>
  texts.map((text, at) => ({ text, startMs: at * 1_000, endMs: (at + 1) * 1_000 }))

const rendered = (
  text: string,
  segments: ReadonlyArray<string>,
  stream: boolean,
  format: TranscriptFormat = "json"
) => {
  const file = { file: new Blob([]), path: "", fileName: "", language: undefined, prompt: undefined }
  const request = { model: "m", ...file, format, temperature: undefined, stream, words: false, segments: true }
  const transcript = { text, language: "en", segments: spoken(segments), words: [] }
  return renderTranscript(request, { transcript, durationMs: 9_000, cost: 0n }).body
}

/** The deltas of a stream, and the text at its end. */
const heard = (text: string, segments: ReadonlyArray<string>) => {
  const events = rendered(text, segments, true)
    .split("\n\n")
    .filter((event) => event !== "")
    .map((event) => JSON.parse(event.slice(event.indexOf("data: ") + 6)))
  const deltas = events.slice(0, -1).map((event): string => event.delta)
  expect(events.slice(0, -1).every(({ type }) => type === "transcript.text.delta")).toBe(true)
  return { deltas, done: events.at(-1).text as string }
}

describe("a streamed transcript", () => {
  it("has a delta for each segment, with the spaces of the text", () => {
    for (const [text, segments, deltas] of [
      [" Hello there. General Kenobi.", [" Hello there.", " General Kenobi."], [" Hello there.", " General Kenobi."]],
      ["Hello there. General Kenobi.", [" Hello there.", " General Kenobi."], ["Hello there.", " General Kenobi."]],
      ["Hello there. General Kenobi.", ["Hello there.", "General Kenobi."], ["Hello there.", " General Kenobi."]],
      ["你好。再见。", ["你好。", "再见。"], ["你好。", "再见。"]],
      ["Hello there.", ["Hello", "what?", "there."], ["Hello", " there."]],
      ["Hello there. ", ["Hello", " ", "there."], ["Hello", " there.", " "]],
      ["", [], []]
    ] as const) {
      expect(heard(text, segments)).toEqual({ deltas, done: text })
    }
  })

  it("adds up to its text, for any segments", () => {
    const piece = fc.oneof(fc.constantFrom("", " ", "a", " a", "ab ", "你", "\ud83d\ude00"), fc.string())
    fc.assert(
      fc.property(fc.array(piece), fc.array(piece), fc.constantFrom("", " "), (said, other, between) => {
        const text = said.join(between)
        for (const segments of [said, other, [...said, ...other]]) {
          const { deltas, done } = heard(text, segments)
          expect([deltas.join(""), done]).toEqual([text, text])
          expect(deltas).not.toContain("")
        }
      })
    )
  })
})

it("captions begin with their words", () => {
  expect(rendered(" Hi. You.", [" Hi.", " You."], false, "srt")).toBe(
    "1\n00:00:00,000 --> 00:00:01,000\nHi.\n\n2\n00:00:01,000 --> 00:00:02,000\nYou.\n"
  )
  expect(rendered(" Hi.", [" Hi."], false, "vtt")).toBe("WEBVTT\n\n00:00:00.000 --> 00:00:01.000\nHi.\n")
})

it("captions keep all of their words, also when a text looks like their format", () => {
  const text = " One.\r\n \n\tTwo\r--> three ---> four: <b>R&D</b>, a < b. "
  const caption = "One. Two -> three -> four: <b>R&D</b>, a < b."
  const line = (format: TranscriptFormat) => rendered(text, [text, "Next."], false, format).split("\n\n")
  expect(line("srt")).toEqual([
    `1\n00:00:00,000 --> 00:00:01,000\n${caption}`,
    expect.stringMatching(/^2\n.*\nNext\.\n$/)
  ])
  const escaped = "One. Two -> three -> four: &lt;b>R&amp;D&lt;/b>, a &lt; b."
  expect(line("vtt").slice(1, 2)).toEqual([`00:00:00.000 --> 00:00:01.000\n${escaped}`])
  expect(rendered(text, [text], false, "verbose_json")).toContain("---> four: <b>R&D</b>")
})
