/**
 * The port to the world that answers chats: the simulator's models, and later OpenAI-compatible upstreams.
 *
 * An answer is a stream of deltas and one end. What was produced is what was emitted: a caller that goes away interrupts
 * the stream, and the provider stops within a second.
 */
import type { Stream } from "effect"
import { Context, Schema } from "effect"
import type { NanoUsd } from "../billing/Money.ts"
import type { ChatRequest } from "./Chat.ts"

/** A model of the catalog: what `GET /models` shows and what an answer costs. */
export interface Model {
  readonly id: string
  readonly created: number
  readonly ownedBy: string
  readonly contextLength: number
  readonly maxOutputTokens: number
  readonly vision: boolean
  /** Nano-USD for one million tokens. */
  readonly promptPrice: NanoUsd
  readonly completionPrice: NanoUsd
}

export class UpstreamFailed extends Schema.TaggedError<UpstreamFailed>()("UpstreamFailed", {
  reason: Schema.Literals(["refused", "overloaded", "broken", "timeout"])
}) {}

export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter"

/** One step of an answer. `index` is the choice, 0 to n - 1. */
export type ChatEvent =
  | { readonly _tag: "Text"; readonly index: number; readonly text: string }
  | { readonly _tag: "Finish"; readonly index: number; readonly reason: FinishReason }
  /** The provider's own count; null where it gives none, and then we count. */
  | { readonly _tag: "Usage"; readonly promptTokens: number; readonly completionTokens: number }

export interface ModelProviderService {
  readonly name: string
  readonly models: ReadonlyArray<Model>
  /** What of a request this world can't serve, where it can't: refused before anything is reserved. */
  readonly refuses?: (
    model: Model,
    request: ChatRequest
  ) => { readonly param: string; readonly message: string } | undefined
  readonly chat: (model: Model, request: ChatRequest) => Stream.Stream<ChatEvent, UpstreamFailed>
}

export class ModelProvider extends Context.Service<ModelProvider, ModelProviderService>()(
  "@sluice/domain/inference/ModelProvider"
) {}
