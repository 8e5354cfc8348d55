/**
 * The simulated models behind `ModelProvider`: seeded models that answer word by word at a plausible pace.
 *
 * The text depends only on the world's seed, the model, the messages and the request's seed. A stop text is never
 * emitted, `max_tokens` is kept by the real count of tokens, and only Effect's Clock delays an answer.
 */
import type { ChatRequest } from "@sluice/domain/models/ChatRequest"
import {
  type ChatEvent,
  type FinishReason,
  type Hear,
  type Model,
  ModelProvider
} from "@sluice/domain/models/ModelProvider"
import { flatMapSync } from "@sluice/domain/runtime/SyncFastPath"
import { Tokens } from "@sluice/domain/models/Tokens"
import { Effect, identity, Layer } from "effect"
import { textHash, unit } from "./Draws.ts"
import { jsonAnswer } from "./JsonAnswer.ts"
import { SchemaUnsupported } from "./JsonSchemas.ts"
import type { ModelWorld, SimulatedModel } from "./ModelWorld.ts"
import { isAscii, prose } from "./Prose.ts"
import { simulatedEmbeddings } from "./SimulatedEmbeddings.ts"
import { simulatedImages } from "./SimulatedImages.ts"
import { simulatedFilms } from "./SimulatedFilms.ts"
import { simulatedTranscription, simulatedSpeech } from "./SimulatedSpeech.ts"
import { type Beside, Studio } from "./Studio.ts"
import { drawLogprobs } from "./Logprobs.ts"
import { argumentsOf, callsOf, type SimulatedCall, toolsToCall } from "./ToolCalls.ts"

/** Provides the models of `world`. */
export const layer = (
  world: ModelWorld,
  beside: Beside = identity
): Layer.Layer<ModelProvider, never, Tokens | Studio> =>
  Layer.effect(
    ModelProvider,
    Effect.map(Effect.all([Tokens, Studio]), ([tokens, studio]) => {
      const isPaced = world.latency === "paced"
      const byId = new Map(world.models.map((model) => [model.id, model]))

      // Without a pace and without a stream the caller gets all words at once, so they stay together.
      const inPieces = (request: ChatRequest, text: string) =>
        world.latency === "none" && !request.stream && !request.logprobs ? [text] : piecesOf(text)

      const answer = (model: SimulatedModel, request: ChatRequest, key: number): Effect.Effect<Answer> => {
        const calls = callsOf(request, key)
        if (calls.length > 0) return answerWithCalls(request, calls)
        const text = cutAtStop(textOf(model, request, key), request.stop)
        return flatMapSync(shorten(tokens, text, request.maxTokens), (kept) =>
          Effect.succeed({
            steps: inPieces(request, kept).map((piece, n) =>
              request.logprobs
                ? { _tag: "Text", text: piece, tokens: [drawLogprobs(piece, request.topLogprobs, key, n)] }
                : { _tag: "Text", text: piece }
            ),
            reason: kept.length < text.length ? "length" : "stop"
          })
        )
      }

      /** Returns the calls as far as `max_tokens` reaches. The arguments of the last call can be cut. */
      const answerWithCalls = (request: ChatRequest, calls: ReadonlyArray<SimulatedCall>): Effect.Effect<Answer> => {
        const whole = calls.map((call) => `${call.name} ${call.arguments}`).join("\n")
        return Effect.map(shorten(tokens, whole, request.maxTokens), (kept) => {
          let left = kept.length
          const steps = calls.flatMap((call, index): ReadonlyArray<Step> => {
            if (left <= call.name.length) return []
            const text = call.arguments.slice(0, Math.max(0, left - call.name.length - 1))
            left -= call.name.length + call.arguments.length + 2
            return [
              { _tag: "ToolCall", call: index, id: call.id, name: call.name },
              ...inPieces(request, text).map((piece): Step => ({ _tag: "ToolArguments", call: index, text: piece }))
            ]
          })
          return { steps, reason: kept.length < whole.length ? "length" : "tool_calls" }
        })
      }

      const chat = <E>(asked: Model, request: ChatRequest, hear: Hear<E>): Effect.Effect<void, E> => {
        const model = byId.get(asked.id)
        if (model === undefined) return Effect.die(new Error(`No simulated model ${asked.id}`))
        const key = keyOf(world.seed, request)
        const choice = (index: number) => answer(model, request, textHash(key, `choice ${index}`))
        const send = (answers: ReadonlyArray<Answer>) => {
          const steps = stepsOf(answers)
          return world.latency === "none" ? hear(steps.flat()) : sendPaced(model, key, steps, hear)
        }
        return request.choices === 1
          ? flatMapSync(choice(0), (one) => send([one]))
          : Effect.flatMap(Effect.forEach(Array.from({ length: request.choices }).keys(), choice), send)
      }

      return {
        models: world.models,
        embeddings: simulatedEmbeddings(world.seed, world.embeddings),
        images: simulatedImages(world.seed, world.images, isPaced ? IMAGE_MS : 0, beside),
        speech: simulatedSpeech(world.seed, world.speech, studio, isPaced),
        videos: simulatedFilms(world.seed, world.videos, studio, isPaced),
        transcription: simulatedTranscription(world.seed, world.transcription, studio, isPaced, beside),
        refuses,
        chat
      }
    })
  )

type Step = DistributiveOmit<Extract<ChatEvent, { readonly _tag: "Text" | "ToolCall" | "ToolArguments" }>, "index">
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never

interface Answer {
  readonly steps: ReadonlyArray<Step>
  readonly reason: FinishReason
}

const refuses = (_model: Model, request: ChatRequest) => {
  for (const tool of toolsToCall(request)) {
    const why = whyUnsupported(() => argumentsOf(tool, 0, ""))
    if (why === undefined) continue
    const place = request.toolIndexes[request.tools.indexOf(tool)]
    return { param: `tools.${place}.function.parameters`, message: why }
  }
  const format = request.responseFormat
  if (format.type !== "json_schema") return undefined
  const why = whyUnsupported(() => jsonAnswer(format.schema, 0, ""))
  return why === undefined ? undefined : { param: "response_format.json_schema.schema", message: why }
}

const whyUnsupported = (follow: () => unknown): string | undefined => {
  try {
    follow()
    return undefined
  } catch (error) {
    if (!(error instanceof SchemaUnsupported)) throw error
    return `Simulated models can't follow this schema: ${error.message}`
  }
}

const keyOf = (seed: number, request: ChatRequest): number => {
  let key = textHash(seed, `${request.model} ${request.seed ?? ""}`)
  for (const message of request.messages) key = textHash(key, `${message.role} ${message.text}`)
  return key
}

const textOf = (model: SimulatedModel, request: ChatRequest, key: number): string => {
  const format = request.responseFormat
  // A word has at least one token: words beyond this number would be cut off anyway.
  const most = format.type === "text" ? (request.maxTokens ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY
  const text = prose(request, key, model.words, most)
  if (format.type === "text") return text
  const value = format.type === "json_object" ? { answer: text } : jsonAnswer(format.schema, key, text)
  return JSON.stringify(value, null, 1)
}

/** Returns the text up to the first stop sequence, without it. */
const cutAtStop = (text: string, stops: ReadonlyArray<string>): string => {
  const at = stops.map((stop) => text.indexOf(stop)).filter((index) => index >= 0)
  return at.length === 0 ? text : text.slice(0, Math.min(...at))
}

/** Returns an upper bound of the tokens, since a token has at least one byte: a short text needs no count. */
const maxTokensOf = (text: string): number => (isAscii(text) ? text.length : text.length * 3)

/** Returns the longest beginning with at most `limit` tokens. */
const shorten = ({ fit }: (typeof Tokens)["Service"], text: string, limit: number | undefined) =>
  limit === undefined || maxTokensOf(text) <= limit ? Effect.succeed(text) : fit(text, limit)

/** Returns words with the space before them. A text without spaces is cut into parts. */
const piecesOf = (text: string): ReadonlyArray<string> => text.match(/\s*\S{1,48}|\s+/gu) ?? []

/**
 * Returns the events that are emitted together: one step of each choice that goes on, and the end of a choice behind
 * its last step.
 */
const stepsOf = (answers: ReadonlyArray<Answer>): ReadonlyArray<ReadonlyArray<ChatEvent>> => {
  const together: Array<Array<ChatEvent>> = []
  for (const [index, { reason, steps }] of answers.entries()) {
    for (const [at, step] of steps.entries()) (together[at] ??= []).push({ ...step, index })
    ;(together[steps.length] ??= []).push({ _tag: "Finish", index, reason })
  }
  return together
}

/** The time of a picture. */
const IMAGE_MS = 3_000

/** A word has about 1.3 tokens. */
const TOKENS_PER_PIECE = 1.3

const sendPaced = <E>(
  model: SimulatedModel,
  key: number,
  steps: ReadonlyArray<ReadonlyArray<ChatEvent>>,
  hear: Hear<E>
) => {
  const { firstMs, tokensPerSecond, jitter } = model.latency
  const pause = (step: number) => {
    if (step === steps.length - 1 && step > 0) return 0
    const mean = step === 0 ? firstMs : (1_000 * TOKENS_PER_PIECE) / tokensPerSecond
    return mean * (1 + jitter * (2 * unit(key, 100_000 + step) - 1))
  }
  return Effect.forEach(steps, (events, step) => Effect.andThen(Effect.sleep(pause(step)), hear(events)), {
    discard: true
  })
}
