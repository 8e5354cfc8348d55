/**
 * Answers that break the contract of `ModelProvider`, as a broken upstream would give them: events of choices that nobody
 * asked for, words after the end, no end, counts that cannot be.
 */
import type { ChatRequest } from "@sluice/domain/inference/Chat"
import type { ChatEvent, UpstreamFailed } from "@sluice/domain/inference/ModelProvider"
import { Stream } from "effect"

type Answer = Stream.Stream<ChatEvent, UpstreamFailed>
type Malformation = (answer: Answer, request: ChatRequest) => Answer

const text = (index: number, words: string): ChatEvent => ({ _tag: "Text", index, text: words })
const usage = (promptTokens: number, completionTokens: number): ChatEvent => ({
  _tag: "Usage",
  promptTokens,
  completionTokens
})
const then =
  (...events: ReadonlyArray<ChatEvent>): Malformation =>
  (answer) =>
    Stream.concat(answer, Stream.fromIterable(events, { chunkSize: 1 }))
const first =
  (events: (request: ChatRequest) => ReadonlyArray<ChatEvent>): Malformation =>
  (answer, request) =>
    Stream.concat(Stream.fromIterable(events(request), { chunkSize: 1 }), answer)

/** Characters of a flood: more than any answer may have. */
const FLOOD = 4 * 1024 * 1024

export const malformations = {
  wordsAfterTheEnd: then(text(0, " and on it talks")),
  noEnd: (answer) => Stream.filter(answer, (event) => event._tag !== "Finish"),
  twoEnds: then({ _tag: "Finish", index: 0, reason: "length" }),
  onlyAnEnd: () => Stream.make({ _tag: "Finish" as const, index: 0, reason: "stop" as const }),
  nothing: () => Stream.empty,
  choiceTooMany: first((request) => [text(request.choices, "for nobody")]),
  choiceBelowZero: first(() => [text(-1, "for nobody")]),
  choiceThatIsNone: first(() => [text(Number.NaN, "for nobody"), text(0.5, "for nobody")]),
  countTooLow: then(usage(0, 0)),
  countBelowZero: then(usage(-5, -7)),
  countThatIsNone: then(usage(Number.NaN, Number.POSITIVE_INFINITY)),
  countTooHigh: then(usage(2 ** 31 - 1, 2 ** 31 - 1)),
  countTwice: then(usage(10, 10), usage(3, 3)),
  wordsWithoutBound: first(() => [text(0, "z".repeat(FLOOD))]),
  halfACharacter: first(() => [text(0, "\ud83d")])
} satisfies Record<string, Malformation>

export type Malformed = keyof typeof malformations

const names = Object.keys(malformations) as ReadonlyArray<Malformed>

/** One of the malformations; `drawn` from 0 up to but not 1 says which. */
export const malformed = (answer: Answer, request: ChatRequest, drawn: number): Answer => {
  const make: Malformation = malformations[names[Math.floor(drawn * names.length)]!]
  return make(answer, request)
}
