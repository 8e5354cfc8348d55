/**
 * What an upstream says of an answer, as events: chunks of a stream and whole answers alike. What servers leave out is
 * repaired where only one thing can be meant (see the tests for who leaves out what); else the answer is malformed.
 *
 * Ends and the count come with `finish`, last: whatever comes between them and the last word then loses nothing.
 */
import type { ChatRequest } from "@sluice/domain/models/ChatRequest"
import type { ChatEvent, FinishReason, OutputToken, TokenChance } from "@sluice/domain/models/ModelProvider"
import { callFailed, type CallFailed } from "../upstream/CallFailed.ts"
import { CallReader } from "./CallReader.ts"
import { failureOf, isError } from "../upstream/ErrorChunk.ts"
import { field, isRecord, list, number, text } from "../upstream/Loose.ts"

interface ChoiceState {
  /** The upstream has said something of it. */
  seen: boolean
  thought: boolean
  spoke: boolean
  reason: FinishReason | undefined
  readonly calls: CallReader
}

export class ChatReader {
  /** What is wrong with the answer; nothing more is read then. */
  flaw: CallFailed | undefined
  private readonly choices: ReadonlyArray<ChoiceState>
  /** How many others are wanted in the place of each token, and one; 0: tokens are not wanted. */
  private readonly likelihoods: number
  private usage: { readonly prompt: number; readonly completion: number } | undefined
  /** It has said or thought something. */
  private begun = false

  /** `seed`: what ids of calls are made from where the upstream gives none. */
  constructor(request: Pick<ChatRequest, "choices" | "logprobs" | "topLogprobs">, seed: string) {
    this.likelihoods = request.logprobs ? request.topLogprobs + 1 : 0
    this.choices = Array.from({ length: request.choices }, (_, index) => ({
      seen: false,
      thought: false,
      spoke: false,
      reason: undefined,
      calls: new CallReader(index, `${seed}${index}`)
    }))
  }

  /** The events of a parsed chunk, or of a whole answer, are added to `events`. */
  read(chunk: unknown, events: Array<ChatEvent>): void {
    if (this.flaw !== undefined) return
    if (!isRecord(chunk)) return this.fail(callFailed("malformed"))
    if (isError(chunk)) return this.fail(failureOf(chunk, this.begun))
    const before = events.length
    const choices = list(chunk["choices"])
    const counted = choices.length > 1 && isMisnumbered(choices)
    for (const [at, choice] of choices.entries()) this.readChoice(choice, counted ? at : undefined, events)
    if (events.length > before) {
      this.begun = true
      // A count before the last word is not that of the answer.
      this.usage = undefined
    }
    // Moonshot's is within the choice.
    const usage = chunk["usage"] ?? field(choices[0], "usage")
    if (!isRecord(usage)) return
    this.readUsage(usage)
    // A count on the way is what is owed where the rest never comes.
    if (this.usage === undefined || this.choices.every(({ reason }) => reason !== undefined)) return
    events.push({ _tag: "Running", promptTokens: this.usage.prompt, completionTokens: this.usage.completion })
  }

  /** The last events. `whole`: the upstream said that it is through, so that an end that it left out can be filled in. */
  finish(whole: boolean, events: Array<ChatEvent>): void {
    if (this.flaw !== undefined) return
    // An end that is handed on is seen: not that of one choice before all are sound.
    const ends: Array<ChatEvent> = []
    for (const [index, { calls, reason, seen }] of this.choices.entries()) {
      // Servers that don't know `n` give one.
      if (!seen && whole && index > 0) return this.fail(callFailed("unserved"))
      if (reason === undefined && !(whole && seen)) return this.fail(callFailed("cut"))
      if (!calls.finish(ends)) return this.fail(callFailed("malformed"))
      ends.push({ _tag: "Finish", index, reason: reasonOf(reason ?? "stop", calls.count) })
    }
    events.push(...ends)
    if (this.usage === undefined) return
    events.push({ _tag: "Usage", promptTokens: this.usage.prompt, completionTokens: this.usage.completion })
  }

  /** `place`: its number, whatever it says. */
  private readChoice(choice: unknown, place: number | undefined, events: Array<ChatEvent>): void {
    if (!isRecord(choice)) return
    const index = place ?? numberOf(choice)
    const state = this.choices[index]
    // Nobody asked for it.
    if (state === undefined) return
    state.seen = true
    const reason = text(choice["finish_reason"]) ?? ""
    // OpenRouter puts what failed beside an answer that it gives with status 200.
    if (isRecord(choice["error"]) && (reason === "" || FAILURES.has(reason))) {
      return this.fail(failureOf(choice, this.begun))
    }
    const whole = !isRecord(choice["delta"])
    const said = whole ? choice["message"] : choice["delta"]
    if (isRecord(said)) {
      const thought = text(said["reasoning_content"]) ?? text(said["reasoning"]) ?? thoughtsOf(said)
      if (thought !== "") {
        state.thought = true
        events.push({ _tag: "Thought", index, text: thought })
      }
      const words = wordsOf(said)
      const told = this.likelihoods === 0 ? undefined : tokensOf(choice["logprobs"], this.likelihoods - 1)
      // Those of thoughts are not handed on, nor that of `</think>`, which comes with no words.
      const hidden = thought !== "" || (state.thought && !state.spoke && words === "")
      const tokens = hidden ? (whole ? tokensOfWords(told ?? [], words) : undefined) : told
      if (words !== "") state.spoke = true
      if (tokens !== undefined) events.push({ _tag: "Text", index, text: words, tokens })
      else if (words !== "") events.push({ _tag: "Text", index, text: words })
      const refusal = said["refusal"]
      if (typeof refusal === "string" && refusal !== "") events.push({ _tag: "Refusal", index, text: refusal })
      const calls = said["tool_calls"]
      for (const call of isRecord(calls) ? [calls] : list(calls)) {
        if (!state.calls.read(call, whole, events)) return this.fail(callFailed("malformed"))
      }
    }
    if (reason === "") return
    if (FAILURES.has(reason)) return this.fail(callFailed("malformed"))
    state.reason ??= REASONS[reason] ?? "stop"
  }

  private readUsage(usage: Readonly<Record<string, unknown>>): void {
    const prompt = number(usage["prompt_tokens"])
    const completion = number(usage["completion_tokens"])
    // No prompt has no tokens: LocalAI sends zeros with each chunk, and at the end where its backend counts nothing.
    if (prompt === undefined || completion === undefined || prompt < 1 || completion < 0) return
    this.usage = { prompt, completion }
  }

  fail(flaw: CallFailed): void {
    this.flaw ??= flaw
  }
}

const numberOf = (choice: unknown): number => number(field(choice, "index")) ?? 0

/** The choices of a whole answer that have one number (LocalAI). */
const isMisnumbered = (choices: ReadonlyArray<unknown>): boolean =>
  new Set(choices.map(numberOf)).size < choices.length && !choices.some((choice) => isRecord(field(choice, "delta")))

const wordsOf = (said: Readonly<Record<string, unknown>>): string => {
  const content = said["content"]
  if (typeof content === "string") return content
  const parts = list(content).map((part) => text(field(part, "text")) ?? "")
  return parts.join("")
}

/** Mistral's, which are parts of the content, in parts of their own. */
const thoughtsOf = (said: Readonly<Record<string, unknown>>): string =>
  list(said["content"])
    .flatMap((part) => list(field(part, "thinking")))
    .map((part) => text(field(part, "text")) ?? "")
    .join("")

/** Undefined: it tells none. */
const tokensOf = (logprobs: unknown, most: number): ReadonlyArray<OutputToken> | undefined => {
  const content = list(field(logprobs, "content"))
  if (content.length === 0) return undefined
  return content.flatMap((one): ReadonlyArray<OutputToken> => {
    const said = chanceOf(one)
    if (said === undefined) return []
    const others = most === 0 ? [] : list(field(one, "top_logprobs")).slice(0, most)
    return [{ ...said, top: others.flatMap((other) => chanceOf(other) ?? []) }]
  })
}

/** The last of the tokens, where they make up the words: the others are of thoughts. The end may be a token too. */
const tokensOfWords = (tokens: ReadonlyArray<OutputToken>, words: string): ReadonlyArray<OutputToken> | undefined => {
  if (words === "") return undefined
  for (const end of [tokens.length, tokens.length - 1]) {
    let start = end
    for (let length = 0; start > 0 && length < words.length;) length += tokens[--start]!.token.length
    const last = tokens.slice(start, end)
    if (last.map(({ token }) => token).join("") === words) return last
  }
  return undefined
}

const chanceOf = (value: unknown): TokenChance | undefined => {
  const token = text(field(value, "token"))
  const logprob = number(field(value, "logprob"))
  if (token === undefined || logprob === undefined) return undefined
  const bytes = list(field(value, "bytes"))
  return isBytes(bytes) ? { token, logprob, bytes } : { token, logprob }
}

const isBytes = (values: ReadonlyArray<unknown>): values is ReadonlyArray<number> =>
  values.length > 0 &&
  values.length <= MAX_TOKEN_BYTES &&
  values.every((value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 255)

const MAX_TOKEN_BYTES = 1_024

const reasonOf = (reason: FinishReason, calls: number): FinishReason => {
  if (reason === "stop" && calls > 0) return "tool_calls"
  return reason === "tool_calls" && calls === 0 ? "stop" : reason
}

/** Words of other servers for the four that there are; others are a kind of stop. */
const REASONS: Readonly<Record<string, FinishReason>> = {
  stop: "stop",
  length: "length",
  max_tokens: "length",
  model_length: "length",
  model_context_window_exceeded: "length",
  tool_calls: "tool_calls",
  tool_use: "tool_calls",
  function_call: "tool_calls",
  content_filter: "content_filter",
  sensitive: "content_filter",
  safety: "content_filter",
  SAFETY: "content_filter"
}
const FAILURES = new Set(["error", "abort", "cancelled", "network_error", "insufficient_system_resource"])
