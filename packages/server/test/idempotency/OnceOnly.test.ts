/** The identity of a request under an `Idempotency-Key`, and the answers that are kept for it. */
import { expect, it } from "@effect/vitest"
import { Idempotent, ReturnsSecret } from "@sluice/api/access/InfraAccess"
import { allScopes, CurrentPrincipal } from "@sluice/domain/access/Principal"
import { type FirstAnswer, Idempotency, type KeyedRequest } from "@sluice/domain/idempotency/Idempotency"
import { idempotentLayer } from "@sluice/server/idempotency/Idempotent"
import { Context, Effect, Layer } from "effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"

interface Asked {
  readonly method?: string
  readonly path?: string
  readonly body?: string
  readonly key?: string
  readonly environmentId?: string
  readonly keyId?: string
  readonly isSecret?: boolean
}

/** Requests an answer of this status and body through `Idempotent`; returns the stored answer, if any. */
const asks = Effect.fnUntraced(function* (asked: Asked, status = 200, body = "{}") {
  const { environmentId = "e", isSecret = false, key = "k", keyId = "key", method = "POST", path = "/jobs" } = asked
  const kept: Array<KeyedRequest & Pick<FirstAnswer, "outcome">> = []
  const idempotency = {
    once: (request: KeyedRequest, run: Effect.Effect<FirstAnswer>) =>
      Effect.map(run, ({ outcome, text }) => {
        kept.push({ ...request, outcome })
        return { text, replayed: false }
      })
  } as unknown as Idempotency["Service"]
  const once = yield* Effect.provide(
    Idempotent,
    idempotentLayer.pipe(Layer.provide(Layer.succeed(Idempotency, idempotency)))
  )
  const request = new Request(`http://localhost${path}`, {
    method,
    headers: { "idempotency-key": key },
    ...(method === "POST" ? { body: asked.body ?? "{}" } : {})
  })
  const endpoint = { method, annotations: Context.make(ReturnsSecret, isSecret) }
  const answer = HttpServerResponse.text(body, { status })
  const told = yield* once(Effect.succeed(answer), { endpoint } as unknown as Parameters<typeof once>[1]).pipe(
    Effect.provideService(HttpServerRequest.HttpServerRequest, HttpServerRequest.fromWeb(request)),
    Effect.provideService(HttpServerRequest.ParsedSearchParams, {}),
    Effect.provideService(HttpRouter.RouteContext, { params: {}, route: {} as never }),
    Effect.provideService(CurrentPrincipal, {
      workspaceId: "w",
      keyId,
      scopes: allScopes,
      environmentId,
      environmentName: "default",
      rateLimitRpm: 600
    })
  )
  return { status: told.status, kept: kept[0] }
})

it.effect("an answer is kept when it is a decision, and not when a failure may have left a resource", () =>
  Effect.gen(function* () {
    for (const [status, body, outcome] of [
      [201, "{}", "kept"],
      [402, "{}", "kept"],
      [404, "{}", "kept"],
      [409, "{}", "kept"],
      [415, "{}", "none"],
      [422, "{}", "none"],
      [429, "{}", "none"],
      [500, "{}", "unknown"],
      [503, "{}", "unknown"],
      [500, '{"error":{"details":{"job_id":"j"}}}', "kept"],
      [503, '{"error":{"details":{"job_id":"j"}}}', "unknown"]
    ] as const) {
      const told = yield* asks({}, status, body)
      expect([status, told.status, told.kept?.outcome]).toEqual([status, status, outcome])
    }
  })
)

it.effect(
  "a request differs by path, query, environment or body, and by its API key where the answer has a secret",
  () =>
    Effect.gen(function* () {
      const hashOf = (asked: Asked) => Effect.map(asks(asked), ({ kept }) => kept?.requestHash)
      const others = [{}, { path: "/keys" }, { path: "/jobs?a=b" }, { environmentId: "f" }, { body: "[]" }]
      const secrets = [{ isSecret: true }, { isSecret: true, keyId: "other" }]
      const hashes = yield* Effect.forEach([...others, ...secrets], hashOf)
      expect(new Set(hashes).size).toBe(others.length + secrets.length)
      expect(yield* hashOf({ keyId: "other", key: "l" })).toBe(hashes[0])
    })
)

it.effect("Idempotency-Key applies to POST alone, and an invalid key is refused", () =>
  Effect.gen(function* () {
    expect(yield* asks({ method: "GET" })).toEqual({ status: 200, kept: undefined })
    for (const key of ["", "x".repeat(256), "caf\u00e9"]) {
      expect(yield* asks({ key })).toEqual({ status: 422, kept: undefined })
    }
    expect((yield* asks({ key: "~ ".repeat(127) + "x" })).kept?.outcome).toBe("kept")
  })
)
