/**
 * Answers that break the contract of `ModelProvider`, as a broken upstream would give them: events of choices that nobody
 * asked for, words after the end, no end, counts that cannot be.
 */
import type { ChatRequest } from "@sluice/domain/models/ChatRequest"
import type { ChatEvent, Hear, ModelProviderService } from "@sluice/domain/models/ModelProvider"
import { Effect } from "effect"

type Malformation = (inner: ModelProviderService) => ModelProviderService

const text = (index: number, words: string): ChatEvent => ({ _tag: "Text", index, text: words })
const usage = (promptTokens: number, completionTokens: number): ChatEvent => ({
  _tag: "Usage",
  promptTokens,
  completionTokens
})
/** Says one after the other. */
const say = <E>(events: ReadonlyArray<ChatEvent>, hear: Hear<E>) =>
  Effect.forEach(events, (event) => hear([event]), { discard: true })
const then =
  (...events: ReadonlyArray<ChatEvent>): Malformation =>
  (inner) => ({
    ...inner,
    chat: (model, request, hear) => Effect.andThen(inner.chat(model, request, hear), say(events, hear))
  })
const first =
  (events: (request: ChatRequest) => ReadonlyArray<ChatEvent>): Malformation =>
  (inner) => ({
    ...inner,
    chat: (model, request, hear) => Effect.andThen(say(events(request), hear), inner.chat(model, request, hear))
  })
const only =
  (...events: ReadonlyArray<ChatEvent>): Malformation =>
  (inner) => ({ ...inner, chat: (_model, _request, hear) => say(events, hear) })

/** Characters of a flood: more than any answer may have. */
const FLOOD = 4 * 1024 * 1024

export const malformations = {
  wordsAfterTheEnd: then(text(0, " and on it talks")),
  noEnd: (inner) => ({
    ...inner,
    chat: (model, request, hear) =>
      inner.chat(model, request, (events) => hear(events.filter((event) => event._tag !== "Finish")))
  }),
  twoEnds: then({ _tag: "Finish", index: 0, reason: "length" }),
  onlyAnEnd: only({ _tag: "Finish", index: 0, reason: "stop" }),
  nothing: only(),
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

/** A provider whose answers have one of the malformations; `drawn` from 0 up to but not 1 says which. */
export const malformed = (inner: ModelProviderService, drawn: number): ModelProviderService => {
  const make: Malformation = malformations[names[Math.floor(drawn * names.length)]!]
  return make(inner)
}
