/**
 * The server of all client suites: the whole service on its own port, over models that answer at once. Three models are added:
 * one that streams slowly, so that a caller can disconnect in the middle, and two that fail.
 */
import { Workspaces } from "@sluice/domain/access/Workspaces"
import { Billing } from "@sluice/domain/billing/Billing"
import { ModelProvider, type ModelProviderService } from "@sluice/domain/models/ModelProvider"
import { UpstreamFailed } from "@sluice/domain/models/UpstreamFailed"
import { application } from "@sluice/server/Application"
import { parse } from "@sluice/server/Config"
import { defaultWorlds, server } from "@sluice/server/Server"
import { instant, type ModelWorld } from "@sluice/simulator/models/ModelWorld"
import { Effect, Layer, Logger, ManagedRuntime, Redacted, Result } from "effect"
import * as HttpServer from "effect/http/HttpServer"
import { temporaryDirectory } from "@sluice/testing/servers/ServerProcess"
import { Customer } from "./Customer.ts"

/** A chat model. */
export const MODEL = "sluice-small"
/** A chat model with vision. */
export const SEEING = "sluice-vision"
/** Streams a hundred words, one each 20 ms. */
export const SLOW = "sluice-slow"
/** Streams a few words and breaks off. */
export const BREAKS = "sluice-breaks"
/** Fails on the first request with a given conversation, before its first token. */
export const FLAKY = "sluice-flaky"

/** The text that `BREAKS` streams. */
const EVENTS_BEFORE_THE_BREAK = 4

const world = (seed: number): ModelWorld => {
  const known = instant(seed)
  const [small] = known.models
  return {
    ...known,
    models: [
      ...known.models,
      { ...small!, id: SLOW, words: [100, 100] },
      { ...small!, id: BREAKS },
      { ...small!, id: FLAKY }
    ]
  }
}

const withMore = (inner: ModelProviderService): ModelProviderService => {
  const heard = new Set<string>()
  return {
    ...inner,
    chat: (model, request, hear) => {
      if (model.id === FLAKY) {
        const conversation = request.messages.map(({ text }) => text).join("\n")
        if (heard.has(conversation)) return inner.chat(model, request, hear)
        heard.add(conversation)
        return new UpstreamFailed({ reason: "broken" })
      }
      if (model.id === SLOW) {
        return inner.chat(model, request, (events) =>
          Effect.forEach(events, (event) => Effect.andThen(Effect.sleep("20 millis"), hear([event])), { discard: true })
        )
      }
      if (model.id !== BREAKS) return inner.chat(model, request, hear)
      return inner.chat(model, request, (events) =>
        Effect.andThen(hear(events.slice(0, EVENTS_BEFORE_THE_BREAK)), new UpstreamFailed({ reason: "broken" }))
      )
    }
  }
}

export interface Host {
  /** The base URL of the inference surface. */
  readonly baseURL: string
  /** A customer with their own workspace and this credit in USD. */
  readonly customer: (usd?: number) => Promise<Customer>
  readonly close: () => Promise<void>
}

export const startHost = async (): Promise<Host> => {
  const directory = temporaryDirectory()
  const config = Result.getOrThrow(parse({ port: "0", data: directory.path, seed: "7" }))
  const models = Layer.effect(ModelProvider, Effect.map(ModelProvider, withMore))
  const layer = server(
    config,
    { ...defaultWorlds(config.seed), models: world(config.seed) },
    application.pipe(Layer.provide(models))
  )
  // The log would show the answers that break off on purpose.
  const runtime = ManagedRuntime.make(layer.pipe(Layer.provide(Logger.layer([]))))
  const { address } = await runtime.runPromise(HttpServer.HttpServer)
  const origin = `http://127.0.0.1:${"port" in address ? address.port : 0}`
  let count = 0
  const open = Effect.fnUntraced(function* (usd: number) {
    const name = `customer ${++count}`
    const workspaces = yield* Workspaces
    const workspaceId = yield* workspaces.create(name)
    const credit = BigInt(Math.round(usd * 1e9))
    if (credit > 0n) yield* (yield* Billing).credit(workspaceId, credit, name)
    return new Customer(origin, Redacted.value(yield* workspaces.createKey(workspaceId, name)), usd)
  })
  return {
    baseURL: `${origin}/v1`,
    customer: (usd = 10) => runtime.runPromise(open(usd)),
    close: async () => {
      await runtime.dispose()
      directory.remove()
    }
  }
}
