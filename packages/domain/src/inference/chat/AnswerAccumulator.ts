/**
 * What a model has produced so far, by choice. It is kept whole, because the count that is billed is one of the whole text
 * (Tokens.ts); its size is bounded by the allowed answer.
 */
import type { ExtraContent } from "../../models/ExtraContent.ts"
import type { ChatEvent, FinishReason, SaidToken } from "../../models/ModelProvider.ts"
import { LONGEST_TOKEN } from "../../models/Tokens.ts"

export interface ToolCall {
  readonly id: string
  readonly name: string
  readonly extra?: ExtraContent
  /** Characters of the choice's text that came before it. */
  readonly at: number
  /** JSON text; not of a call that was cut. */
  arguments: string
}

/** What a model said instead of an answer. */
export interface Refusal {
  text: string
  /** Characters of the choice's text, and calls, that came before it. */
  readonly at: number
  readonly calls: number
}

/** One of the answers of a request. */
export interface Choice {
  text: string
  refusal: Refusal | undefined
  /** What was thought aloud on the way: billed as words are, as far as a whole answer may be long. */
  thought: string
  readonly calls: Array<ToolCall>
  /** The tokens of the text; empty where they were not asked for. */
  readonly tokens: Array<SaidToken>
  reason: FinishReason | undefined
}

/** An answer as it is told when it is through. */
export interface SaidChoice {
  readonly text: string
  /** Undefined: it did not refuse. */
  readonly refusal?: Readonly<Refusal>
  readonly calls: ReadonlyArray<Readonly<ToolCall>>
  /** Undefined: not asked for. */
  readonly tokens?: ReadonlyArray<SaidToken>
  readonly reason: FinishReason
}

export class AnswerAccumulator {
  readonly choices: ReadonlyArray<Choice>
  /** The model was asked: from here on its prompt costs. */
  started = false
  /** Something was handed to the caller. */
  delivered = false
  /** The provider's own count, where it gives one. */
  reported: { readonly prompt: number; readonly completion: number } | undefined = undefined
  /** Tokens of the answer that the provider had counted on the way. */
  private running = 0

  private readonly mostLength: number

  /** `allowed`: tokens that each choice may have. */
  constructor(choices: number, allowed: number) {
    this.mostLength = allowed * LONGEST_TOKEN
    const all: Array<Choice> = []
    for (let i = 0; i < choices; i++) {
      all.push({ text: "", refusal: undefined, thought: "", calls: [], tokens: [], reason: undefined })
    }
    this.choices = all
  }

  /** Every choice has said how it ended; an answer that stops without is cut, not complete. */
  get complete(): boolean {
    return this.choices.every(({ reason }) => reason !== undefined)
  }

  /** What the provider had counted of an answer that was left or broke off; 0 of one that is complete. */
  get counted(): number {
    return this.complete ? 0 : this.running
  }

  /** More than any allowed answer can be: the model ignores its limit. */
  get excessive(): boolean {
    return this.choices.some((choice) => lengthOf(choice) > this.mostLength)
  }

  /** What is counted of each choice. */
  get texts(): ReadonlyArray<string> {
    return this.choices.map(({ calls, refusal, text, thought }) => {
      if (calls.length === 0 && thought === "" && refusal === undefined) return text
      const called = calls.map((call) => `${call.name} ${call.arguments}`).join("\n")
      return [thought, text, refusal?.text ?? "", called].filter((part) => part !== "").join("\n")
    })
  }

  /** `tokens`: whether they were asked for. */
  said(tokens: boolean): ReadonlyArray<SaidChoice> {
    return this.choices.map((choice) => ({
      text: choice.text,
      ...(choice.refusal === undefined ? {} : { refusal: choice.refusal }),
      calls: choice.calls,
      reason: choice.reason ?? "stop",
      ...(tokens ? { tokens: choice.tokens } : {})
    }))
  }

  /** Takes what belongs to the answer and gives back what is handed on: not what nobody asked for, or has no beginning. */
  add(events: ReadonlyArray<ChatEvent>): ReadonlyArray<ChatEvent> {
    return events.filter((event) => this.take(event))
  }

  private take(event: ChatEvent): boolean {
    if (event._tag === "Usage") {
      this.reported = { prompt: tokens(event.promptTokens), completion: tokens(event.completionTokens) }
      return true
    }
    if (event._tag === "Running") {
      this.running = tokens(event.completionTokens)
      return false
    }
    if (event._tag === "Anew") {
      for (const choice of this.choices) choice.thought = ""
      this.running = 0
      return false
    }
    const choice = this.choices[event.index]
    if (choice === undefined) return false
    switch (event._tag) {
      case "Text":
        choice.text += event.text
        if (event.tokens !== undefined) for (const token of event.tokens) choice.tokens.push(token)
        return true
      case "Refusal":
        if (event.text === "") return false
        choice.refusal ??= { text: "", at: choice.text.length, calls: choice.calls.length }
        choice.refusal.text += event.text
        return true
      case "Thought":
        if (choice.thought.length < this.mostLength) choice.thought += event.text
        return false
      case "Finish":
        choice.reason = event.reason
        return true
      case "ToolCall":
        if (event.call !== choice.calls.length || event.call >= MAX_CALLS) return false
        choice.calls.push({
          id: event.id,
          name: event.name,
          ...(event.extra === undefined ? {} : { extra: event.extra }),
          at: choice.text.length,
          arguments: ""
        })
        return true
      case "ToolArguments": {
        const call = choice.calls[event.call]
        if (call !== undefined) call.arguments += event.text
        return call !== undefined
      }
    }
  }
}
/** Calls of one choice at most. */
export const MAX_CALLS = 128

const lengthOf = ({ calls, refusal, text, tokens: said }: Choice): number =>
  calls.reduce(
    (sum, call) => sum + call.name.length + call.arguments.length,
    text.length + said.length + (refusal?.text.length ?? 0)
  )

/** An upstream's number is input as any other: whole, not negative, within int4. */
const tokens = (count: number): number => Math.min(Math.max(0, Math.trunc(count) || 0), 2_147_483_647)
