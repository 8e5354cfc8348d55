/**
 * Routes that are answered before the router: a request that comes a thousand times a second goes straight from the socket
 * to its handler, one fiber and no middleware. What is not plain (another host, a body too large, a query) is left to the
 * router, which knows the same endpoint.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import { Context, Effect, Fiber, Scope } from "effect"
import type { HostRule } from "./Hosts.ts"

/** Writes the whole answer; interrupted when the caller goes away. It must not fail. */
export type HotHandler = (source: IncomingMessage, response: ServerResponse) => Effect.Effect<void>

export interface HotRoute {
  readonly path: string
  /** Bytes of a body at most. */
  readonly maxBodyBytes: number
  readonly handler: HotHandler
}

export class HotRoutes extends Context.Service<
  HotRoutes,
  {
    /** Answers `POST path` until the scope closes; what is being answered then is interrupted. */
    readonly add: (route: HotRoute) => Effect.Effect<void, never, Scope.Scope>
    /** Takes the request, or leaves it to the router. */
    readonly take: (source: IncomingMessage, response: ServerResponse) => boolean
  }
>()("@sluice/server/http/HotRoutes") {}

export const makeHotRoutes = (isOurHost: HostRule): HotRoutes["Service"] => {
  const routes = new Map<string, HotRoute & { readonly run: (effect: Effect.Effect<void>) => Fiber.Fiber<void> }>()
  return {
    add: Effect.fnUntraced(function* (route) {
      const scope = yield* Scope.fork(yield* Effect.scope, "parallel")
      const fork = Effect.runForkWith(yield* Effect.context<never>())
      routes.set(route.path, { ...route, run: (effect) => Fiber.runIn(fork(effect), scope) })
      yield* Effect.addFinalizer(() => Effect.sync(() => routes.delete(route.path)))
    }),
    take: (source, response) => {
      const { headers, method, url } = source
      const route = method === "POST" && url !== undefined ? routes.get(url) : undefined
      if (route === undefined || !isOurHost(headers.host)) return false
      if (Number(headers["content-length"] ?? 0) > route.maxBodyBytes) return false
      const fiber = route.run(route.handler(source, response))
      if (fiber.pollUnsafe() === undefined) {
        response.on("close", () => {
          if (!response.writableEnded) fiber.interruptUnsafe()
        })
      }
      return true
    }
  }
}
