/**
 * The simulated world behind `ModelProvider`: seeded models that answer word by word at a believable pace.
 *
 * The text depends only on the world's seed, the model, the messages and the request's seed. The stop text is never emitted,
 * `max_tokens` is kept by real token count, and no real time passes but that of Effect's Clock.
 */
import type { ChatRequest } from "@sluice/domain/inference/Chat"
import {
  type ChatEvent,
  type FinishReason,
  type Hear,
  type Model,
  ModelProvider
} from "@sluice/domain/inference/ModelProvider"
import { Tokens } from "@sluice/domain/inference/Tokens"
import { Effect, Layer } from "effect"
import { hash32, unit } from "./Draws.ts"
import { jsonAnswer, SchemaUnsupported } from "./JsonAnswer.ts"
import type { ModelWorld, SimulatedModel } from "./ModelWorld.ts"
import { prose } from "./Prose.ts"

/** The models of `world`. */
export const layer = (world: ModelWorld): Layer.Layer<ModelProvider, never, Tokens> =>
  Layer.effect(
    ModelProvider,
    Effect.map(Effect.service(Tokens), (tokens) => {
      const byId = new Map(world.models.map((model) => [model.id, model]))

      const answer = (model: SimulatedModel, request: ChatRequest, key: number) =>
        Effect.flatMap(
          Effect.sync(() => cutAtStop(said(model, request, key), request.stop)),
          (text) =>
            Effect.map(shorten(tokens.count, text, request.maxTokens), (kept) => ({
              // Without a pace and without a stream nobody sees the words come one by one.
              pieces: world.latency === "none" && !request.stream ? [kept] : piecesOf(kept),
              reason: (kept.length < text.length ? "length" : "stop") as FinishReason
            }))
        )

      const chat = <E>(asked: Model, request: ChatRequest, hear: Hear<E>): Effect.Effect<void, E> => {
        const model = byId.get(asked.id)
        if (model === undefined) return Effect.die(new Error(`No simulated model ${asked.id}`))
        const key = keyOf(world.seed, request)
        const choices = Array.from({ length: request.choices }, (_, index) =>
          answer(model, request, hash32(key, `choice ${index}`))
        )
        const spoken = choices.length === 1 ? Effect.map(choices[0]!, (one) => [one]) : Effect.all(choices)
        return Effect.flatMap(spoken, (answers) => {
          const steps = stepsOf(answers)
          return world.latency === "none" ? hear(steps.flat()) : paced(model, key, steps, hear)
        })
      }

      return { name: "simulator", models: world.models, refuses, chat }
    })
  )

interface Spoken {
  readonly pieces: ReadonlyArray<string>
  readonly reason: FinishReason
}

const refuses = (_model: Model, request: ChatRequest) => {
  if (request.logprobs)
    return { param: "logprobs", message: "Simulated models have no log probabilities; leave logprobs out" }
  if (request.toolChoice === "required" || request.toolChoice === "named") {
    return {
      param: "tool_choice",
      message: "Simulated models answer with text and call no tools; use tool_choice auto or none"
    }
  }
  if (request.responseFormat.type !== "json_schema") return undefined
  try {
    jsonAnswer(request.responseFormat.schema, 0, "")
    return undefined
  } catch (error) {
    if (!(error instanceof SchemaUnsupported)) throw error
    return {
      param: "response_format.json_schema.schema",
      message: `Simulated models can't follow this schema: ${error.message}`
    }
  }
}

const keyOf = (seed: number, request: ChatRequest): number => {
  let key = hash32(seed, `${request.model} ${request.seed ?? ""}`)
  for (const message of request.messages) key = hash32(key, `${message.role} ${message.text}`)
  return key
}

const said = (model: SimulatedModel, request: ChatRequest, key: number): string => {
  const text = prose(request, key, model.words)
  const format = request.responseFormat
  if (format.type === "text") return text
  const value = format.type === "json_object" ? { answer: text } : jsonAnswer(format.schema, key, text)
  return JSON.stringify(value, null, 1)
}

/** The text up to the first stop sequence, which is not part of it. */
export const cutAtStop = (text: string, stops: ReadonlyArray<string>): string => {
  const at = stops.map((stop) => text.indexOf(stop)).filter((index) => index >= 0)
  return at.length === 0 ? text : text.slice(0, Math.min(...at))
}

/** A token is at least one byte: short texts need no count. */
const mostTokens = (text: string): number => (/^[\0-\x7f]*$/.test(text) ? text.length : text.length * 3)

/** The longest beginning with at most `limit` tokens. */
const shorten = (count: (text: string) => Effect.Effect<number>, text: string, limit: number | undefined) =>
  limit === undefined || mostTokens(text) <= limit
    ? Effect.succeed(text)
    : Effect.gen(function* () {
        if ((yield* count(text)) <= limit) return text
        let [fits, tooLong] = [0, text.length]
        while (tooLong - fits > 1) {
          const middle = (fits + tooLong) >> 1
          if ((yield* count(whole(text, middle))) <= limit) fits = middle
          else tooLong = middle
        }
        return whole(text, fits)
      })

/** The first `length` characters without half a surrogate pair at the end. */
const whole = (text: string, length: number): string => {
  const last = text.charCodeAt(length - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length)
}

/** Words with the space before them; what has no spaces comes in parts. */
const piecesOf = (text: string): ReadonlyArray<string> => text.match(/\s*\S{1,48}|\s+/gu) ?? []

/** What is emitted together: one piece of each choice that still speaks, and its end after the last one. */
const stepsOf = (answers: ReadonlyArray<Spoken>): ReadonlyArray<ReadonlyArray<ChatEvent>> => {
  const only = answers.length === 1 ? answers[0] : undefined
  if (only !== undefined) {
    const texts = only.pieces.map((text): ReadonlyArray<ChatEvent> => [{ _tag: "Text", index: 0, text }])
    return [...texts, [{ _tag: "Finish", index: 0, reason: only.reason }]]
  }
  const length = Math.max(0, ...answers.map((answer) => answer.pieces.length)) + 1
  return Array.from({ length }, (_, step) =>
    answers.flatMap((answer, index): ReadonlyArray<ChatEvent> => {
      const text = answer.pieces[step]
      if (text !== undefined) return [{ _tag: "Text", index, text }]
      return step === answer.pieces.length ? [{ _tag: "Finish", index, reason: answer.reason }] : []
    })
  )
}

/** Words have about 1.3 tokens. */
const TOKENS_PER_PIECE = 1.3

const paced = <E>(
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
