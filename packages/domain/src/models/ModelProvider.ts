/**
 * The port to the world that answers chats: the simulator's models, and later OpenAI-compatible upstreams.
 *
 * An answer is a sequence of deltas and one end, handed on as they come. What was produced is what was handed on: a caller
 * that goes away interrupts the call, and the provider stops within a second.
 */
import type { UpstreamFailed } from "./UpstreamFailed.ts"
import type { Effect } from "effect"
import { Context } from "effect"
import type { NanoUsd } from "../billing/Money.ts"
import type { ChatRequest } from "./ChatRequest.ts"
import type { ExtraContent } from "./ExtraContent.ts"
import type { ImageFormat } from "./ImageFormat.ts"
import type { SpeechProvider, TranscriptionProvider, VideoProvider } from "./MediaProvider.ts"

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

/** A model that gives vectors for texts. */
export interface EmbeddingModel {
  readonly id: string
  readonly created: number
  readonly ownedBy: string
  readonly dimensions: number
  /** Tokens of one text at most. */
  readonly contextLength: number
  /** Nano-USD for one million tokens. */
  readonly promptPrice: NanoUsd
}

/** A model that makes images. */
export interface ImageModel {
  readonly id: string
  readonly created: number
  readonly ownedBy: string
  /** Width x height in pixels; the first where none is asked for. */
  readonly sizes: readonly [string, ...ReadonlyArray<string>]
  /** Nano-USD for one image. */
  readonly imagePrice: NanoUsd
}

export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter"

/** A token that a model said or might have said, and the natural logarithm of how likely it was. */
export interface TokenChance {
  readonly token: string
  readonly logprob: number
  /** Where they are not those of `token`: it may be half of a character. */
  readonly bytes?: ReadonlyArray<number>
}

/** What was said, and the likeliest tokens in its place, likeliest first. */
export interface SaidToken extends TokenChance {
  readonly top: ReadonlyArray<TokenChance>
}

/** One step of an answer. `index` is the choice, 0 to n - 1. */
export type ChatEvent =
  | {
      readonly _tag: "Text"
      readonly index: number
      readonly text: string
      /** The tokens of the text, where they were asked for. */
      readonly tokens?: ReadonlyArray<SaidToken>
    }
  /** A piece of what a model says instead of an answer that it won't give. */
  | { readonly _tag: "Refusal"; readonly index: number; readonly text: string }
  /** A call of a tool begins: the `call`th of this choice, from 0. */
  | {
      readonly _tag: "ToolCall"
      readonly index: number
      readonly call: number
      readonly id: string
      readonly name: string
      /** Goes to the caller, and comes back with the call. */
      readonly extra?: ExtraContent
    }
  /** A piece of the arguments of a call that has begun, as JSON text. */
  | { readonly _tag: "ToolArguments"; readonly index: number; readonly call: number; readonly text: string }
  | { readonly _tag: "Finish"; readonly index: number; readonly reason: FinishReason }
  /** What it thinks aloud: billed where the provider counts nothing itself, and not handed on. */
  | { readonly _tag: "Thought"; readonly index: number; readonly text: string }
  /** The provider's own count so far, for an answer that is left before its end. */
  | { readonly _tag: "Running"; readonly promptTokens: number; readonly completionTokens: number }
  /** Who thought and counted so far has failed, and none of that is billed: what comes now begins anew. */
  | { readonly _tag: "Anew" }
  /** The provider's own count; null where it gives none, and then we count. */
  | { readonly _tag: "Usage"; readonly promptTokens: number; readonly completionTokens: number }

/** Takes the next events of an answer. The model waits for it: who does not read holds it up. */
export type Hear<E> = (events: ReadonlyArray<ChatEvent>) => Effect.Effect<void, E>

/** A text, or the ids of its tokens. */
export type EmbeddingInput = string | ReadonlyArray<number>

/** One vector for each input, in order, of length one. */
export interface Embedded {
  readonly vectors: ReadonlyArray<Float32Array>
  /** The provider's own count of the tokens; undefined: it gives none, and ours is billed. */
  readonly tokens?: number | undefined
}

export interface EmbeddingProvider {
  readonly models: ReadonlyArray<EmbeddingModel>
  readonly embed: (
    model: EmbeddingModel,
    inputs: ReadonlyArray<EmbeddingInput>,
    dimensions: number
  ) => Effect.Effect<Embedded, UpstreamFailed>
}

export interface ImageProvider {
  readonly models: ReadonlyArray<ImageModel>
  /** As many files as were asked for. */
  readonly generate: (
    model: ImageModel,
    request: { readonly prompt: string; readonly count: number; readonly size: string }
  ) => Effect.Effect<ImageFiles, UpstreamFailed>
}

/** Files of one format. */
export interface ImageFiles {
  readonly format: ImageFormat
  readonly files: ReadonlyArray<Uint8Array>
}

/** A server behind a model, by its place in the operator's list; who it is stays there. */
export interface UpstreamHealth {
  readonly model: string
  readonly upstream: number
  /** `closed`: it is asked. `resting`: it asked to be left alone. `open`: it failed. `half_open`: it is tried again. */
  readonly state: "closed" | "resting" | "open" | "half_open"
}

export interface ModelProviderService {
  /** Those that chat. */
  readonly models: ReadonlyArray<Model>
  /** Undefined: this world has none. */
  readonly embeddings?: EmbeddingProvider
  readonly images?: ImageProvider
  readonly speech?: SpeechProvider
  readonly transcription?: TranscriptionProvider
  readonly videos?: VideoProvider
  /** Undefined: nobody stands behind the models. */
  readonly health?: Effect.Effect<ReadonlyArray<UpstreamHealth>>
  /** What of a request this world can't serve, where it can't: refused before anything is reserved. */
  readonly refuses?: (
    model: Model,
    request: ChatRequest
  ) => { readonly param: string; readonly message: string } | undefined
  /** Ends when the answer has. */
  readonly chat: <E>(model: Model, request: ChatRequest, hear: Hear<E>) => Effect.Effect<void, UpstreamFailed | E>
}

export class ModelProvider extends Context.Service<ModelProvider, ModelProviderService>()(
  "@sluice/domain/models/ModelProvider"
) {}
