/** The provider over a catalog of a test, and questions to it. */
import { NodeCrypto } from "@effect/platform-node"
import { decodeChat } from "@sluice/domain/inference/chat/Chat"
import { type ChatRequest } from "@sluice/domain/models/ChatRequest"
import { type ChatEvent, ModelProvider } from "@sluice/domain/models/ModelProvider"
import { UpstreamCatalog, servedModelsOf } from "@sluice/providers/openai-compatible/catalog/UpstreamCatalog"
import * as OpenAiModels from "@sluice/providers/openai-compatible/OpenAiModels"
import { Context, Effect, Exit, Layer, Logger, Redacted, Result } from "effect"

export const chatEntry = (upstreams: ReadonlyArray<object>, more: object = {}) => ({
  kind: "chat",
  id: "m",
  context_length: 8_192,
  max_output_tokens: 1_024,
  price_usd: { million_prompt_tokens: 1, million_completion_tokens: 2 },
  upstreams,
  ...more
})

/** The provider, until the scope ends. */
export const world = (
  models: ReadonlyArray<object>,
  keys: Readonly<Record<string, string>> = {},
  options: OpenAiModels.Options = {}
) =>
  Effect.map(
    Layer.build(
      OpenAiModels.layer(options).pipe(
        Layer.provide(
          Layer.succeed(
            UpstreamCatalog,
            Result.getOrThrowWith(
              servedModelsOf(
                { models },
                new Map(Object.entries(keys).map(([name, key]) => [name, Redacted.make(key)]))
              ),
              (issues) => new Error(issues.join("\n"))
            )
          )
        ),
        Layer.provide(NodeCrypto.layer)
      )
    ),
    (context) => Context.get(context, ModelProvider)
  )

export type World = ModelProvider["Service"]

export const question = (more: object = {}): ChatRequest =>
  Result.getOrThrow(
    decodeChat({ model: "m", messages: [{ role: "user", content: "Hi" }], max_tokens: 50, stream: true, ...more })
  )

export interface Heard {
  readonly events: ReadonlyArray<ChatEvent>
  /** The port's reason; undefined: it ended well. */
  readonly reason: string | undefined
  readonly retryAfterSeconds?: number | undefined
}

/** Asks, and gathers what comes; the operator's log stays empty. */
export const ask = (world: World, request: ChatRequest = question()): Effect.Effect<Heard> =>
  Effect.suspend(() => {
    const events: Array<ChatEvent> = []
    const hear = (some: ReadonlyArray<ChatEvent>) => Effect.sync(() => void events.push(...some))
    return Effect.map(Effect.exit(world.chat(world.models[0]!, request, hear)), (exit) => {
      if (Exit.isSuccess(exit)) return { events, reason: undefined }
      const error = Exit.findErrorOption(exit)
      if (error._tag === "None") throw new Error(`It died: ${String(exit.cause)}`)
      return { events, reason: error.value.reason, retryAfterSeconds: error.value.retryAfterSeconds }
    })
  }).pipe(Effect.provide(Logger.layer([])))

export const wordsOf = (events: ReadonlyArray<ChatEvent>): string =>
  events.map((event) => (event._tag === "Text" ? event.text : "")).join("")
export const refusedOf = (events: ReadonlyArray<ChatEvent>): string =>
  events.map((event) => (event._tag === "Refusal" ? event.text : "")).join("")
export const endsOf = (events: ReadonlyArray<ChatEvent>) =>
  events.flatMap((event) => (event._tag === "Finish" ? [event.reason] : []))
export const usageOf = (events: ReadonlyArray<ChatEvent>) =>
  events.flatMap((event) => (event._tag === "Usage" ? [[event.promptTokens, event.completionTokens]] : []))
/** Calls of choice 0 as `[id, name, arguments]`. */
export const callsOf = (events: ReadonlyArray<ChatEvent>) => {
  const calls: Array<[string, string, string]> = []
  for (const event of events) {
    if (event._tag === "ToolCall") calls[event.call] = [event.id, event.name, ""]
    if (event._tag === "ToolArguments") calls[event.call]![2] += event.text
  }
  return calls
}

/** Returns when it holds. */
export const until = (holds: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() => (holds() ? Effect.void : Effect.andThen(Effect.sleep("2 millis"), until(holds))))
