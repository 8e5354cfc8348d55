/**
 * What a model has produced so far, by choice. It is kept whole, because the count that is billed is one of the whole text
 * (Tokens.ts); its size is bounded by the allowed answer.
 */
import type { ChatEvent, FinishReason } from "./ModelProvider.ts"

export class Production {
  readonly texts: Array<string>
  readonly reasons: Array<FinishReason | undefined>
  /** The model was asked: from here on its prompt costs. */
  started = false
  /** Something was handed to the caller. */
  delivered = false
  /** The provider's own count, where it gives one. */
  reported: { readonly prompt: number; readonly completion: number } | undefined = undefined

  private readonly mostLength: number

  /** `allowed`: tokens that each choice may have. */
  constructor(choices: number, allowed: number) {
    this.mostLength = allowed * LONGEST_TOKEN
    this.texts = Array.from({ length: choices }, () => "")
    this.reasons = Array.from({ length: choices }, () => undefined)
  }

  /** Every choice has said how it ended; an answer that stops without is cut, not complete. */
  get complete(): boolean {
    return this.reasons.every((reason) => reason !== undefined)
  }

  /** More than any allowed answer can be: the model ignores its limit. */
  get excessive(): boolean {
    return this.texts.some((text) => text.length > this.mostLength)
  }

  /** Takes what belongs to the answer and gives it back: events of choices that were not asked for are dropped. */
  add(events: ReadonlyArray<ChatEvent>): ReadonlyArray<ChatEvent> {
    const kept = events.filter((event) => event._tag === "Usage" || event.index in this.texts)
    for (const event of kept) {
      if (event._tag === "Usage") {
        this.reported = {
          prompt: tokens(event.promptTokens),
          completion: tokens(event.completionTokens)
        }
      } else if (event._tag === "Text") this.texts[event.index] += event.text
      else this.reasons[event.index] = event.reason
    }
    return kept
  }
}

/** Characters of the longest token that tokenizers know. */
const LONGEST_TOKEN = 128

/** An upstream's number is input as any other: whole, not negative, within int4. */
const tokens = (count: number): number => Math.min(Math.max(0, Math.trunc(count) || 0), 2_147_483_647)
