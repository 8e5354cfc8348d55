/**
 * Answers that break the contract of `ModelProvider`, as a broken upstream sends them: events of choices that were not
 * requested, text behind the end, no end, impossible token counts.
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
/** Sends the events one by one. */
const sendEach = <E>(events: ReadonlyArray<ChatEvent>, hear: Hear<E>) =>
  Effect.forEach(events, (event) => hear([event]), { discard: true })
const appendEvents =
  (...events: ReadonlyArray<ChatEvent>): Malformation =>
  (inner) => ({
    ...inner,
    chat: (model, request, hear) => Effect.andThen(inner.chat(model, request, hear), sendEach(events, hear))
  })
const prependEvents =
  (events: (request: ChatRequest) => ReadonlyArray<ChatEvent>): Malformation =>
  (inner) => ({
    ...inner,
    chat: (model, request, hear) => Effect.andThen(sendEach(events(request), hear), inner.chat(model, request, hear))
  })
const sendOnly =
  (...events: ReadonlyArray<ChatEvent>): Malformation =>
  (inner) => ({ ...inner, chat: (_model, _request, hear) => sendEach(events, hear) })

/** Characters: more than any answer can have. */
const FLOOD_CHARACTERS = 4 * 1024 * 1024

export const malformations = {
  wordsAfterTheEnd: appendEvents(text(0, " and on it talks")),
  noEnd: (inner) => ({
    ...inner,
    chat: (model, request, hear) =>
      inner.chat(model, request, (events) => hear(events.filter((event) => event._tag !== "Finish")))
  }),
  twoEnds: appendEvents({ _tag: "Finish", index: 0, reason: "length" }),
  onlyAnEnd: sendOnly({ _tag: "Finish", index: 0, reason: "stop" }),
  nothing: sendOnly(),
  choiceTooMany: prependEvents((request) => [text(request.choices, "for nobody")]),
  choiceBelowZero: prependEvents(() => [text(-1, "for nobody")]),
  choiceThatIsNone: prependEvents(() => [text(Number.NaN, "for nobody"), text(0.5, "for nobody")]),
  countTooLow: appendEvents(usage(0, 0)),
  countBelowZero: appendEvents(usage(-5, -7)),
  countThatIsNone: appendEvents(usage(Number.NaN, Number.POSITIVE_INFINITY)),
  countTooHigh: appendEvents(usage(2 ** 31 - 1, 2 ** 31 - 1)),
  countTwice: appendEvents(usage(10, 10), usage(3, 3)),
  wordsWithoutBound: prependEvents(() => [text(0, "z".repeat(FLOOD_CHARACTERS))]),
  halfACharacter: prependEvents(() => [text(0, "\ud83d")])
} satisfies Record<string, Malformation>

export type Malformed = keyof typeof malformations

const names = Object.keys(malformations) as ReadonlyArray<Malformed>

/** Returns a provider whose answers have one of the malformations. `drawn`, from 0 up to but not 1, selects it. */
export const malform = (inner: ModelProviderService, drawn: number): ModelProviderService => {
  const make: Malformation = malformations[names[Math.floor(drawn * names.length)]!]
  return make(inner)
}
