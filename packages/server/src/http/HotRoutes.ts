/**
 * Handles the most frequent routes before the router: a request goes from the socket straight to its handler, with one
 * fiber and no middleware. Requests with a foreign host, an `Expect` or a query are left to the router, which has the
 * same endpoints.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import { type StartFiber, makeFiberPool } from "@sluice/domain/runtime/FiberPool"
import { Context, Effect, Exit, type Scope } from "effect"
import type { ByteBudget } from "./BodyMemoryBudget.ts"
import { type BoundedBody, boundedBody, SMALL_BODY_BYTES } from "./BoundedBody.ts"
import { endWith, serverStopping } from "./EdgeErrors.ts"
import { hasUnmetExpectation } from "./Expect.ts"
import { hasSeveralHosts, type HostRule } from "./Hosts.ts"

/** Writes the whole response; interrupted when the caller disconnects. It must not fail. `text`: the body. */
export type HotHandler = (
  source: IncomingMessage,
  response: ServerResponse,
  text: BoundedBody["text"]
) => Effect.Effect<void>

export interface HotRoute {
  readonly path: string
  /** Limit of the body in bytes. */
  readonly maxBodyBytes: number
  readonly handler: HotHandler
}

export class HotRoutes extends Context.Service<
  HotRoutes,
  {
    /** Handles `POST path` until the scope closes, which interrupts running requests. */
    readonly add: (route: HotRoute) => Effect.Effect<void, never, Scope.Scope>
    /** Handles the request and returns true, or returns false and leaves it to the router. */
    readonly take: (source: IncomingMessage, response: ServerResponse) => boolean
  }
>()("@sluice/server/http/HotRoutes") {}

export const makeHotRoutes = (isOurHost: HostRule, budget: ByteBudget): HotRoutes["Service"] => {
  const routes = new Map<string, HotRoute & { readonly run: StartFiber<never> }>()
  return {
    add: Effect.fnUntraced(function* (route) {
      routes.set(route.path, { ...route, run: yield* makeFiberPool() })
      yield* Effect.addFinalizer(() => Effect.sync(() => routes.delete(route.path)))
    }),
    take: (source, response) => {
      const { headers, method, url } = source
      const route = method === "POST" && url !== undefined ? routes.get(url) : undefined
      if (route === undefined || !isOurHost(headers.host) || hasSeveralHosts(source) || hasUnmetExpectation(source))
        return false
      const length = Number(headers["content-length"] ?? Number.NaN)
      const body = boundedBody(source, response, route.maxBodyBytes, budget)
      const begin = (text: BoundedBody["text"]) => {
        if (response.destroyed) return
        const fiber = route.run(route.handler(source, response, text))
        if (fiber.pollUnsafe() !== undefined) return
        fiber.addObserver((exit) => {
          if (Exit.hasInterrupts(exit)) endWith(response, source, serverStopping)
        })
        response.on("close", () => {
          if (!response.writableEnded) fiber.interruptUnsafe()
        })
      }
      // A small body is read before its fiber starts, so that the fiber waits for nothing but the handler's work.
      if (length <= SMALL_BODY_BYTES) body.read(begin)
      else begin(body.text)
      return true
    }
  }
}
