/**
 * The world of models that a catalog describes: OpenAI-compatible servers of any make, as `ModelProvider`. It reaches
 * nothing before it is asked, and hangs up on everybody when it ends.
 */
import type { ChatRequest } from "@sluice/domain/inference/Chat"
import { type Hear, type Model, ModelProvider, type UpstreamFailed } from "@sluice/domain/inference/ModelProvider"
import { Clock, Crypto, Effect, Layer } from "effect"
import { Catalog, type Offer } from "./Catalog.ts"
import { chatCall } from "./ChatCall.ts"
import { type Surroundings, Upstreams } from "./Upstreams.ts"

export interface Options {
  /** That of the machine, unless a test holds it. */
  readonly clock?: Clock.Clock
}

export const layer = (options: Options = {}): Layer.Layer<ModelProvider, never, Catalog | Crypto.Crypto> =>
  Layer.effect(
    ModelProvider,
    Effect.gen(function* () {
      const catalog = yield* Catalog
      const crypto = yield* Crypto.Crypto
      const around: Surroundings = {
        clock: options.clock ?? Clock.Clock.defaultValue(),
        scope: yield* Effect.scope
      }
      const chats = yield* upstreamsOf(catalog.chat, around)

      const chat = <E>(model: Model, request: ChatRequest, hear: Hear<E>): Effect.Effect<void, UpstreamFailed | E> => {
        const upstreams = chats.get(model.id)
        if (upstreams === undefined) return Effect.die(new Error(`No model ${model.id} in the catalog`))
        return request.tools.length === 0
          ? upstreams.run(chatCall(request, "", hear))
          : Effect.flatMap(Effect.orDie(crypto.randomUUIDv7()), (id) =>
              upstreams.run(chatCall(request, id.replaceAll("-", ""), hear))
            )
      }

      return { name: "openai", models: catalog.chat.map(({ model }) => model), refuses, chat }
    })
  )

type ById = ReadonlyMap<string, Upstreams>

const upstreamsOf = Effect.fnUntraced(function* (
  offers: ReadonlyArray<Offer<{ readonly id: string }>>,
  around: Surroundings
) {
  const all: ById = new Map(offers.map((offer) => [offer.model.id, new Upstreams(offer, around)]))
  yield* Effect.addFinalizer(() =>
    Effect.forEach(all.values(), (upstreams) => upstreams.close(), { concurrency: "unbounded", discard: true })
  )
  return all
})

/** Events of an answer have no place for them. */
const refuses = (_model: Model, request: ChatRequest) =>
  request.logprobs ? { param: "logprobs", message: "Log probabilities are not given; leave logprobs out" } : undefined
