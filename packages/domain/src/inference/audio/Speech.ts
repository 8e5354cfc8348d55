/**
 * Makes speech of a text (interface: POST /audio/speech). Each character is charged; a failed request costs nothing.
 */
import { Context, Effect, Layer } from "effect"
import type { Principal } from "../../access/Principal.ts"
import { type NanoUsd, priceFor } from "../../billing/Money.ts"
import { catalogOf, chooseOption } from "../../models/Catalog.ts"
import { type ModelRequestError, ModelRequestInvalid } from "../../models/InferenceErrors.ts"
import type { SpeechModel } from "../../models/MediaProvider.ts"
import { Metering } from "../../metering/Metering.ts"
import { ModelProvider } from "../../models/ModelProvider.ts"
import type { SpeechRequest } from "./SpeechRequest.ts"
import { Tokens } from "../../models/Tokens.ts"
import { AnswerLimit } from "../answers/AnswerLimit.ts"
import { makeMeteredResult } from "../answers/MeteredResult.ts"

export interface SpeechAnswer {
  readonly sound: Uint8Array
  readonly promptTokens: number
  readonly cost: NanoUsd
}

export class Speech extends Context.Service<
  Speech,
  {
    readonly models: ReadonlyArray<SpeechModel>
    readonly speak: (
      principal: Principal,
      requestId: string,
      request: SpeechRequest
    ) => Effect.Effect<SpeechAnswer, ModelRequestError>
  }
>()("@sluice/domain/inference/audio/Speech") {
  static readonly layerNoDeps = Layer.effect(
    Speech,
    Effect.gen(function* () {
      const catalog = catalogOf((yield* ModelProvider).speech)
      const runOrder = yield* makeMeteredResult
      const tokens = yield* Tokens

      return Speech.of({
        models: catalog.models,
        speak: Effect.fnUntraced(function* (principal, requestId, request) {
          const { model, provider } = yield* catalog.find(request.model)
          const characters = charactersOf(request.input)
          if (characters > model.maxInputCharacters) {
            const message = `The input has ${characters} characters, and ${model.id} takes at most ${model.maxInputCharacters}; send it in parts`
            return yield* new ModelRequestInvalid({ message, param: "input", code: "input_too_long" })
          }
          const voice = yield* chooseOption("voice", request.voice, model.voices, `${model.id} has the voices`)
          const promptTokens = yield* tokens.count(principal.workspaceId, request.input, Number.POSITIVE_INFINITY)
          const cost = priceFor(model.characterPrice, characters, 1_000_000n)
          const order = {
            principal,
            requestId,
            model: model.id,
            description: `Speech by ${model.id}`,
            param: "input",
            cost,
            tokens: { prompt: promptTokens, completion: 0 }
          }
          const { format, input, instructions, speed } = request
          const sound = yield* runOrder(order, provider.speak(model, { input, voice, format, speed, instructions }))
          return { sound, promptTokens, cost }
        })
      })
    })
  ).pipe(Layer.provide(AnswerLimit.layer))

  static readonly layer = Speech.layerNoDeps.pipe(Layer.provide(Metering.layer))
}

/** Code points: the characters that a person would count. */
const charactersOf = (text: string): number => {
  let count = 0
  for (const _ of text) count++
  return count
}
