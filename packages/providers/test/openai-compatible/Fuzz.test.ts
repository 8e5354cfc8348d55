/** Whatever JSON an upstream sends, what is made of it is an answer in the port's words or a failure, and no exception. */
import { describe, expect, it } from "@effect/vitest"
import type { ChatEvent } from "@sluice/domain/models/ModelProvider"
import { ChatReader } from "@sluice/providers/openai-compatible/calls/ChatReader"
import { vectorsOf } from "@sluice/providers/openai-compatible/calls/EmbeddingCall"
import { transcriptOf } from "@sluice/providers/openai-compatible/calls/TranscriptionCall"
import { progressOf } from "@sluice/providers/openai-compatible/calls/VideoCall"
import { Effect } from "effect"
import fc from "fast-check"

const anything = fc.jsonValue({ maxDepth: 3 })
/** Of the right name, and now and then of the right kind. */
const or = <A>(usual: fc.Arbitrary<A>) => fc.oneof({ weight: 4, arbitrary: usual }, { weight: 1, arbitrary: anything })
const some = (fields: Readonly<Record<string, fc.Arbitrary<unknown>>>) => or(fc.record(fields, { requiredKeys: [] }))

const number = or(fc.integer({ min: -1, max: 3 }))
const call = some({
  index: number,
  id: or(fc.constantFrom("", "a", "b")),
  extra_content: or(fc.constant({ google: {} })),
  type: or(fc.constant("function")),
  function: some({ name: or(fc.constantFrom("", "f", "g")), arguments: or(fc.constantFrom("", "{", "}")) })
})
const said = some({
  role: or(fc.constant("assistant")),
  content: or(fc.constantFrom("", "word ", null)),
  refusal: or(fc.constantFrom(null, "", "no ")),
  reasoning: or(fc.constantFrom(null, "", "hm ")),
  tool_calls: or(fc.array(call, { maxLength: 3 }))
})
const token = some({ token: or(fc.string()), logprob: or(fc.double()), top_logprobs: or(fc.array(anything)) })
const choice = some({
  index: number,
  delta: said,
  message: said,
  logprobs: some({ content: or(fc.array(token, { maxLength: 3 })) }),
  finish_reason: or(fc.constantFrom(null, "stop", "length", "tool_calls", "error", "eos"))
})
const chunk = some({
  choices: or(fc.array(choice, { maxLength: 3 })),
  usage: some({ prompt_tokens: number, completion_tokens: number })
})

/** What `Production` and a client's accumulator count on. */
const wellFormed = (events: ReadonlyArray<ChatEvent>, choices: number): void => {
  const begun = Array.from({ length: choices }, () => 0)
  const ids = new Set<string>()
  for (const event of events) {
    if (event._tag === "Usage" || event._tag === "Running") {
      expect(Number.isFinite(event.promptTokens) && Number.isFinite(event.completionTokens)).toBe(true)
      continue
    }
    if (event._tag === "Anew") expect.unreachable()
    expect(Number.isInteger(event.index) && event.index >= 0 && event.index < choices).toBe(true)
    if (event._tag === "ToolCall") {
      expect([event.call, event.name !== "", event.id !== ""]).toEqual([begun[event.index], true, true])
      begun[event.index]! += 1
      expect(ids.has(`${event.index} ${event.id}`)).toBe(false)
      ids.add(`${event.index} ${event.id}`)
    }
    if (event._tag === "ToolArguments") expect(event.call).toBeLessThan(begun[event.index]!)
  }
}

describe("whatever an upstream sends", () => {
  it("of a chat is a well-formed answer or a flaw", () => {
    let sound = 0
    const request = { choices: 2, logprobs: true, topLogprobs: 2 }
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 8 }), fc.boolean(), (chunks, whole) => {
        const reader = new ChatReader(request, "seed")
        const events: Array<ChatEvent> = []
        for (const one of chunks) reader.read(one, events)
        reader.finish(whole, events)
        wellFormed(events, request.choices)
        const ends = events.filter(({ _tag }) => _tag === "Finish").length
        expect(reader.flaw === undefined).toBe(ends === request.choices)
        if (reader.flaw === undefined) sound++
      }),
      { numRuns: 5_000 }
    )
    // The property is one of answers too, not of failures alone.
    expect(sound).toBeGreaterThan(20)
  })

  it("of the other kinds is theirs or nothing", () => {
    const spoken = some({ start: or(fc.double()), end: or(fc.double()), text: or(fc.string()), word: or(fc.string()) })
    const transcript = some({
      text: or(fc.string()),
      language: or(fc.string()),
      segments: or(fc.array(spoken)),
      words: or(fc.array(spoken))
    })
    const film = some({
      status: or(fc.constantFrom("queued", "failed", "completed")),
      progress: number,
      error: anything
    })
    const vectors = some({ data: or(fc.array(some({ index: number, embedding: or(fc.array(fc.double())) }))) })
    fc.assert(
      fc.property(transcript, film, vectors, (transcript, film, vectors) => {
        transcriptOf(transcript, { durationMs: 1_000, language: undefined })
        progressOf(film)
        Effect.runSync(vectorsOf(vectors, 2, 2))
      }),
      { numRuns: 2_000 }
    )
  })
})
