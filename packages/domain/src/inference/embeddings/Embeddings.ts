/**
 * Makes embeddings of texts (interface: Inference surface; decisions: POST /embeddings). The tokens of the texts are
 * charged.
 */
import { Context, Effect, Layer } from "effect"
import type { Principal } from "../../access/Principal.ts"
import type { NanoUsd } from "../../billing/Money.ts"
import { catalogOf } from "../../models/Catalog.ts"
import type { EmbeddingRequest } from "./EmbeddingRequest.ts"
import { type ModelRequestError, ModelRequestInvalid } from "../../models/InferenceErrors.ts"
import { Metering } from "../../metering/Metering.ts"
import { type Embedded, type EmbeddingModel, ModelProvider } from "../../models/ModelProvider.ts"
import { tokenCost } from "../../models/TokenCost.ts"
import { Tokens } from "../../models/Tokens.ts"
import { AnswerLimit } from "../answers/AnswerLimit.ts"
import { makeMeteredResult } from "../answers/MeteredResult.ts"

/** Maximum tokens of all texts of one request. */
export const MAX_TOKENS = 300_000

export interface EmbeddingAnswer {
  readonly model: string
  /** In the order of the inputs. */
  readonly vectors: ReadonlyArray<Float32Array>
  readonly tokens: number
  readonly cost: NanoUsd
}

export class Embeddings extends Context.Service<
  Embeddings,
  {
    readonly models: ReadonlyArray<EmbeddingModel>
    readonly embed: (
      principal: Principal,
      requestId: string,
      request: EmbeddingRequest
    ) => Effect.Effect<EmbeddingAnswer, ModelRequestError>
  }
>()("@sluice/domain/inference/embeddings/Embeddings") {
  static readonly layerNoDeps = Layer.effect(
    Embeddings,
    Effect.gen(function* () {
      const catalog = catalogOf((yield* ModelProvider).embeddings)
      const runOrder = yield* makeMeteredResult
      const tokens = yield* Tokens

      /**
       * Returns the tokens of each input, up to the first that is refused. Inputs are either all texts or all token
       * arrays.
       */
      const countsOf = ({ workspaceId }: Principal, model: EmbeddingModel, { inputs }: EmbeddingRequest) => {
        const texts = inputs.filter((input) => typeof input === "string")
        return texts.length === 0
          ? Effect.succeed(inputs.map(({ length }) => length))
          : tokens.countEach(workspaceId, texts, model.contextLength, MAX_TOKENS)
      }

      /** Returns the sum of tokens. Refuses a text that is too long for the model. */
      const admit = Effect.fnUntraced(function* (
        principal: Principal,
        model: EmbeddingModel,
        request: EmbeddingRequest
      ) {
        if (request.dimensions !== undefined && request.dimensions > model.dimensions) {
          const message = `Invalid value for 'dimensions': ${model.id} has ${model.dimensions}, not ${request.dimensions}`
          return yield* new ModelRequestInvalid({ message, param: "dimensions", code: null })
        }
        let total = 0
        for (const [index, counted] of (yield* countsOf(principal, model, request)).entries()) {
          total += counted
          const limit = counted > model.contextLength ? model.contextLength : MAX_TOKENS
          if (counted <= model.contextLength && total <= MAX_TOKENS) continue
          const [param, text] = request.isSingle ? ["input", "the text"] : [`input.${index}`, `text ${index}`]
          const message =
            limit === MAX_TOKENS
              ? `${model.id} accepts at most ${limit} tokens in one request, and the texts have more; send fewer texts at once`
              : `This model's maximum context length is ${limit} tokens, however ${text} has more; shorten it`
          return yield* new ModelRequestInvalid({ message, param, code: "context_length_exceeded" })
        }
        return total
      })

      return Embeddings.of({
        models: catalog.models,
        embed: Effect.fnUntraced(function* (principal, requestId, request) {
          const { model, provider } = yield* catalog.find(request.model)
          const counted = yield* admit(principal, model, request)
          // The provider's count is billed (also if it is zero), up to the reserved count.
          const chargeFor = ({ tokens = counted }: Pick<Embedded, "tokens">) => {
            const prompt = Math.min(tokens, counted)
            const price = { promptPrice: model.promptPrice, completionPrice: 0n }
            return { cost: tokenCost(price, prompt, 0), tokens: { prompt, completion: 0 } }
          }
          const order = {
            principal,
            requestId,
            model: model.id,
            description: `Embeddings of ${model.id}`,
            param: "input",
            ...chargeFor({})
          }
          const embed = provider.embed(model, request.inputs, request.dimensions ?? model.dimensions)
          const embedded = yield* runOrder(order, embed, chargeFor)
          const { cost, tokens } = chargeFor(embedded)
          return { model: model.id, vectors: embedded.vectors, tokens: tokens.prompt, cost }
        })
      })
    })
  ).pipe(Layer.provide(AnswerLimit.layer))

  static readonly layer = Embeddings.layerNoDeps.pipe(Layer.provide(Metering.layer))
}
