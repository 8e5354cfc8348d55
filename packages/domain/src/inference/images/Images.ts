/**
 * Makes images of a prompt (interface: POST /images/generations). Each image is charged; a failed request costs
 * nothing.
 */
import { Clock, Context, Effect, Layer } from "effect"
import type { Principal } from "../../access/Principal.ts"
import type { NanoUsd } from "../../billing/Money.ts"
import { catalogOf, chooseOption } from "../../models/Catalog.ts"
import type { ImageFormat } from "../../models/ImageFormat.ts"
import { ImageLinks } from "./ImageLinks.ts"
import type { ImageRequest } from "./ImageRequest.ts"
import type { ModelRequestError } from "../../models/InferenceErrors.ts"
import { Metering } from "../../metering/Metering.ts"
import { type ImageModel, ModelProvider } from "../../models/ModelProvider.ts"
import { Tokens } from "../../models/Tokens.ts"
import { AnswerLimit } from "../answers/AnswerLimit.ts"
import { makeMeteredResult } from "../answers/MeteredResult.ts"

export interface ImageAnswer {
  /** Unix seconds. */
  readonly created: number
  readonly format: ImageFormat
  /** Files, or the secrets of the links to them. */
  readonly images: ReadonlyArray<Uint8Array> | ReadonlyArray<string>
  readonly size: string
  readonly promptTokens: number
  readonly cost: NanoUsd
}

export class Images extends Context.Service<
  Images,
  {
    readonly models: ReadonlyArray<ImageModel>
    readonly generate: (
      principal: Principal,
      requestId: string,
      request: ImageRequest
    ) => Effect.Effect<ImageAnswer, ModelRequestError>
  }
>()("@sluice/domain/inference/images/Images") {
  static readonly layerNoDeps = Layer.effect(
    Images,
    Effect.gen(function* () {
      const catalog = catalogOf((yield* ModelProvider).images)
      const runOrder = yield* makeMeteredResult
      const tokens = yield* Tokens
      const links = yield* ImageLinks

      return Images.of({
        models: catalog.models,
        generate: Effect.fnUntraced(function* (principal, requestId, request) {
          const { model, provider } = yield* catalog.find(request.model)
          const size = yield* chooseOption("size", request.size, model.sizes, `${model.id} makes`)
          const promptTokens = yield* tokens.count(principal.workspaceId, request.prompt, Number.POSITIVE_INFINITY)
          const cost = model.imagePrice * BigInt(request.count)
          const order = {
            principal,
            requestId,
            model: model.id,
            description: `${request.count === 1 ? "An image" : `${request.count} images`} by ${model.id}`,
            param: "prompt",
            cost,
            tokens: { prompt: promptTokens, completion: 0 }
          }
          const generated = provider.generate(model, { prompt: request.prompt, count: request.count, size })
          const toAnswer = (files: ReadonlyArray<Uint8Array>): Effect.Effect<ImageAnswer["images"]> =>
            request.asLinks
              ? Effect.forEach(files, (file) => links.keep(principal.workspaceId, file))
              : Effect.succeed(files)
          const result = Effect.flatMap(generated, ({ files, format }) =>
            Effect.map(toAnswer(files), (images) => ({ format, images }))
          )
          const { format, images } = yield* runOrder(order, result)
          const created = Math.floor((yield* Clock.currentTimeMillis) / 1_000)
          return { created, format, images, size, promptTokens, cost }
        })
      })
    })
  ).pipe(Layer.provide(AnswerLimit.layer))

  static readonly layer = Images.layerNoDeps.pipe(Layer.provide(Metering.layer))
}
