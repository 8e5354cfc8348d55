/**
 * Collects the events of an answer by choice. The whole text is kept, because the billed count is defined on the whole
 * text (Tokens.ts). The size is bounded by the allowed tokens.
 */
import type { ExtraContent } from "../../models/ExtraContent.ts"
import type { ChatEvent, FinishReason, OutputToken } from "../../models/ModelProvider.ts"
import { LONGEST_TOKEN } from "../../models/Tokens.ts"

export interface ToolCall {
  readonly id: string
  readonly name: string
  readonly extra?: ExtraContent
  /** Characters of the choice's text before this call. */
  readonly textOffset: number
  /** JSON text; incomplete if the call was cut. */
  arguments: string
}

/** A refusal: the model's text instead of an answer. */
export interface Refusal {
  text: string
  /** Characters of the choice's text, and calls, before the refusal. */
  readonly textOffset: number
  readonly calls: number
}

/** One of the answers of a request. */
export interface Choice {
  text: string
  refusal: Refusal | undefined
  /** The reasoning, which is billed like text, up to the length of the longest answer. */
  thought: string
  readonly calls: Array<ToolCall>
  /** The tokens of the text; empty if they were not requested. */
  readonly tokens: Array<OutputToken>
  reason: FinishReason | undefined
}

/** A choice of a finished answer. */
export interface FinishedChoice {
  readonly text: string
  /** Undefined: the model did not refuse. */
  readonly refusal?: Readonly<Refusal>
  readonly calls: ReadonlyArray<Readonly<ToolCall>>
  /** Undefined: not requested. */
  readonly tokens?: ReadonlyArray<OutputToken>
  readonly reason: FinishReason
}

export class AnswerAccumulator {
  readonly choices: ReadonlyArray<Choice>
  /** The model was asked. From here on the prompt is billed. */
  hasStarted = false
  /** An event was passed on to the caller. */
  hasDelivered = false
  /** The provider's final count, if it gives one. */
  reported: { readonly prompt: number; readonly completion: number } | undefined = undefined
  /** Tokens of the answer that the provider has counted so far. */
  private running = 0

  private readonly maxLength: number

  /** `allowed`: maximum tokens of each choice. */
  constructor(choices: number, allowed: number) {
    this.maxLength = allowed * LONGEST_TOKEN
    const all: Array<Choice> = []
    for (let i = 0; i < choices; i++) {
      all.push({ text: "", refusal: undefined, thought: "", calls: [], tokens: [], reason: undefined })
    }
    this.choices = all
  }

  /** Every choice has its finish reason. An answer that ends without is cut off. */
  get isComplete(): boolean {
    return this.choices.every(({ reason }) => reason !== undefined)
  }

  /** The provider's count of an answer that was interrupted or cut off; 0 if the answer is complete. */
  get counted(): number {
    return this.isComplete ? 0 : this.running
  }

  /** A choice is longer than any allowed answer can be: the model ignores its limit. */
  get isExcessive(): boolean {
    return this.choices.some((choice) => lengthOf(choice) > this.maxLength)
  }

  /** The text of each choice that is counted for billing. */
  get texts(): ReadonlyArray<string> {
    return this.choices.map(({ calls, refusal, text, thought }) => {
      if (calls.length === 0 && thought === "" && refusal === undefined) return text
      const called = calls.map((call) => `${call.name} ${call.arguments}`).join("\n")
      return [thought, text, refusal?.text ?? "", called].filter((part) => part !== "").join("\n")
    })
  }

  /** Returns the choices of a finished answer. `withTokens`: the request asked for tokens. */
  finishedChoices(withTokens: boolean): ReadonlyArray<FinishedChoice> {
    return this.choices.map((choice) => ({
      text: choice.text,
      ...(choice.refusal === undefined ? {} : { refusal: choice.refusal }),
      calls: choice.calls,
      reason: choice.reason ?? "stop",
      ...(withTokens ? { tokens: choice.tokens } : {})
    }))
  }

  /**
   * Adds events, and returns the events to pass on. Events of unknown choices or calls are dropped; events for this
   * service alone are kept here.
   */
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
        choice.refusal ??= { text: "", textOffset: choice.text.length, calls: choice.calls.length }
        choice.refusal.text += event.text
        return true
      case "Thought":
        if (choice.thought.length < this.maxLength) choice.thought += event.text
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
          textOffset: choice.text.length,
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
/** Maximum calls of one choice. */
export const MAX_CALLS = 128

const lengthOf = ({ calls, refusal, text, tokens: outputTokens }: Choice): number =>
  calls.reduce(
    (sum, call) => sum + call.name.length + call.arguments.length,
    text.length + outputTokens.length + (refusal?.text.length ?? 0)
  )

/** A count of an upstream is untrusted input: it is made an integer from 0 to the maximum of int4. */
const tokens = (count: number): number => Math.min(Math.max(0, Math.trunc(count) || 0), 2_147_483_647)
