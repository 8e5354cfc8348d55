/**
 * Routes that are answered before the router: a request that comes a thousand times a second goes straight from the socket
 * to its handler, one fiber and no middleware. What is not plain (another host, an `Expect`, a query) is left to the router,
 * which knows the same endpoint.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import { type StartFiber, makeFiberPool } from "@sluice/domain/runtime/FiberPool"
import { Context, Effect, Exit, type Scope } from "effect"
import type { ByteBudget } from "./BodyMemoryBudget.ts"
import { type BoundedBody, boundedBody, SMALL_BODY_BYTES } from "./BoundedBody.ts"
import { endWith, serverStopping } from "./EdgeErrors.ts"
import { isUnmet } from "./Expect.ts"
import type { HostRule } from "./Hosts.ts"

/** Writes the whole answer; interrupted when the caller goes away. It must not fail. `text`: the body. */
export type HotHandler = (
  source: IncomingMessage,
  response: ServerResponse,
  text: BoundedBody["text"]
) => Effect.Effect<void>

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

export const makeHotRoutes = (isOurHost: HostRule, room: ByteBudget): HotRoutes["Service"] => {
  const routes = new Map<string, HotRoute & { readonly run: StartFiber<never> }>()
  return {
    add: Effect.fnUntraced(function* (route) {
      routes.set(route.path, { ...route, run: yield* makeFiberPool() })
      yield* Effect.addFinalizer(() => Effect.sync(() => routes.delete(route.path)))
    }),
    take: (source, response) => {
      const { headers, method, url } = source
      const route = method === "POST" && url !== undefined ? routes.get(url) : undefined
      if (route === undefined || !isOurHost(headers.host) || isUnmet(source)) return false
      const length = Number(headers["content-length"] ?? Number.NaN)
      const body = boundedBody(source, response, route.maxBodyBytes, room)
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
      // A small body is read before its fiber begins, whoever sends it: then nothing is waited for but the answer.
      if (length <= SMALL_BODY_BYTES) body.read(begin)
      else begin(body.text)
      return true
    }
  }
}
