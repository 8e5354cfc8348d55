/**
 * The port to model servers: the simulator's models, or OpenAI-compatible upstreams.
 *
 * A chat answer is a sequence of events and one end, passed on as they arrive. Only events that were passed on count as
 * produced. A caller that disconnects interrupts the call, and the provider stops within a second.
 */
import type { UpstreamFailed } from "./UpstreamFailed.ts"
import type { Effect } from "effect"
import { Context } from "effect"
import type { NanoUsd } from "../billing/Money.ts"
import type { ChatRequest } from "./ChatRequest.ts"
import type { ExtraContent } from "./ExtraContent.ts"
import type { ImageFormat } from "./ImageFormat.ts"
import type { SpeechProvider, TranscriptionProvider, VideoProvider } from "./MediaProvider.ts"

/** A model of the catalog: its entry in `GET /models` and its prices. */
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

/** A model that makes embeddings. */
export interface EmbeddingModel {
  readonly id: string
  readonly created: number
  readonly ownedBy: string
  readonly dimensions: number
  /** Maximum tokens of one text. */
  readonly contextLength: number
  /** Nano-USD for one million tokens. */
  readonly promptPrice: NanoUsd
}

/** A model that makes images. */
export interface ImageModel {
  readonly id: string
  readonly created: number
  readonly ownedBy: string
  /** Width x height in pixels; the first is the default. */
  readonly sizes: readonly [string, ...ReadonlyArray<string>]
  /** Nano-USD for one image. */
  readonly imagePrice: NanoUsd
}

export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter"

/** A token that the model chose or considered, with the natural logarithm of its probability. */
export interface TokenChance {
  readonly token: string
  readonly logprob: number
  /** The token's bytes, if they are not those of `token`: a token may be half of a character. */
  readonly bytes?: ReadonlyArray<number>
}

/** A chosen token, with the most likely alternatives in its place, the most likely first. */
export interface OutputToken extends TokenChance {
  readonly top: ReadonlyArray<TokenChance>
}

/** One step of an answer. `index` is the choice, 0 to n - 1. */
export type ChatEvent =
  | {
      readonly _tag: "Text"
      readonly index: number
      readonly text: string
      /** The tokens of the text, if they were requested. */
      readonly tokens?: ReadonlyArray<OutputToken>
    }
  /** Part of a refusal: the model's text instead of an answer that it does not give. */
  | { readonly _tag: "Refusal"; readonly index: number; readonly text: string }
  /** A tool call begins: the `call`th of this choice, from 0. */
  | {
      readonly _tag: "ToolCall"
      readonly index: number
      readonly call: number
      readonly id: string
      readonly name: string
      /** Passed to the caller, and returned with the call. */
      readonly extra?: ExtraContent
    }
  /** Part of the arguments of a begun call, as JSON text. */
  | { readonly _tag: "ToolArguments"; readonly index: number; readonly call: number; readonly text: string }
  | { readonly _tag: "Finish"; readonly index: number; readonly reason: FinishReason }
  /**
   * Part of the model's reasoning, which is billed if the provider does not count tokens, and not passed on to the
   * caller.
   */
  | { readonly _tag: "Thought"; readonly index: number; readonly text: string }
  /** The provider's count so far, for an answer that is interrupted before its end. */
  | { readonly _tag: "Running"; readonly promptTokens: number; readonly completionTokens: number }
  /** The upstream failed after reasoning or counting, and none of that is billed: another upstream starts over. */
  | { readonly _tag: "Anew" }
  /** The provider's final count. Without it the service counts. */
  | { readonly _tag: "Usage"; readonly promptTokens: number; readonly completionTokens: number }

/** Receives the next events of an answer. The model waits for the effect, which is backpressure from the caller. */
export type Hear<E> = (events: ReadonlyArray<ChatEvent>) => Effect.Effect<void, E>

/** A text, or the ids of its tokens. */
export type EmbeddingInput = string | ReadonlyArray<number>

/** One vector of length 1 for each input, in order. */
export interface Embedded {
  readonly vectors: ReadonlyArray<Float32Array>
  /** The provider's count of the tokens; undefined: the service's count is billed. */
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
  /** Returns as many files as requested. */
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

/**
 * The health of an upstream of a model. `upstream` is its index in the operator's list; its identity is not exposed.
 */
export interface UpstreamHealth {
  readonly model: string
  readonly upstream: number
  /**
   * `closed`: it receives requests. `resting`: it asked for a pause. `open`: it failed and receives none. `half_open`:
   * one request probes it.
   */
  readonly state: "closed" | "resting" | "open" | "half_open"
}

export interface ModelProviderService {
  /** The chat models. */
  readonly models: ReadonlyArray<Model>
  /** Undefined: no models of this kind. */
  readonly embeddings?: EmbeddingProvider
  readonly images?: ImageProvider
  readonly speech?: SpeechProvider
  readonly transcription?: TranscriptionProvider
  readonly videos?: VideoProvider
  /** Undefined: the models have no upstreams. */
  readonly health?: Effect.Effect<ReadonlyArray<UpstreamHealth>>
  /**
   * Returns the part of a request that this provider cannot serve; undefined: it can. Called before money is reserved.
   */
  readonly refuses?: (
    model: Model,
    request: ChatRequest
  ) => { readonly param: string; readonly message: string } | undefined
  /** Returns at the end of the answer. */
  readonly chat: <E>(model: Model, request: ChatRequest, hear: Hear<E>) => Effect.Effect<void, UpstreamFailed | E>
}

export class ModelProvider extends Context.Service<ModelProvider, ModelProviderService>()(
  "@sluice/domain/models/ModelProvider"
) {}
