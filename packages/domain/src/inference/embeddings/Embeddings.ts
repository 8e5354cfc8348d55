/** Texts as vectors (interface: Inference surface; decisions: POST /embeddings), metered by the tokens of the texts. */
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

/** Tokens of all texts of one request at most. */
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
      const whole = yield* makeMeteredResult
      const tokens = yield* Tokens

      /** Tokens of each input, as far as one is refused. Inputs are all texts, or all tokens. */
      const countsOf = ({ workspaceId }: Principal, model: EmbeddingModel, { inputs }: EmbeddingRequest) => {
        const texts = inputs.filter((input) => typeof input === "string")
        return texts.length === 0
          ? Effect.succeed(inputs.map(({ length }) => length))
          : tokens.countEach(workspaceId, texts, model.contextLength, MAX_TOKENS)
      }

      /** Tokens in all; refuses the text that the model can't take. */
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
          const most = counted > model.contextLength ? model.contextLength : MAX_TOKENS
          if (counted <= model.contextLength && total <= MAX_TOKENS) continue
          const [param, text] = request.alone ? ["input", "the text"] : [`input.${index}`, `text ${index}`]
          const message =
            most === MAX_TOKENS
              ? `${model.id} takes ${most} tokens, but all texts of a request have more; send less at once`
              : `This model's maximum context length is ${most} tokens, however ${text} has more; shorten it`
          return yield* new ModelRequestInvalid({ message, param, code: "context_length_exceeded" })
        }
        return total
      })

      return Embeddings.of({
        models: catalog.models,
        embed: Effect.fnUntraced(function* (principal, requestId, request) {
          const { model, provider } = yield* catalog.find(request.model)
          const counted = yield* admit(principal, model, request)
          // The provider's count is believed (zero too), within what was reserved.
          const owedFor = ({ tokens = counted }: Pick<Embedded, "tokens">) => {
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
            ...owedFor({})
          }
          const embed = provider.embed(model, request.inputs, request.dimensions ?? model.dimensions)
          const embedded = yield* whole(order, embed, owedFor)
          const { cost, tokens } = owedFor(embedded)
          return { model: model.id, vectors: embedded.vectors, tokens: tokens.prompt, cost }
        })
      })
    })
  ).pipe(Layer.provide(AnswerLimit.layer))

  static readonly layer = Embeddings.layerNoDeps.pipe(Layer.provide(Metering.layer))
}
