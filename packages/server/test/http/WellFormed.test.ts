/** Schema errors: invalid input of a caller is a 422; an answer outside its contract is a defect of the server. */
import { expect, it } from "@effect/vitest"
import { WellFormed } from "@sluice/api/access/InfraAccess"
import { wellFormed } from "@sluice/server/http/WellFormed"
import { Effect, Layer, Schema } from "effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"

const small = HttpApi.make("small").add(
  HttpApiGroup.make("things")
    .add(
      HttpApiEndpoint.get("show", "/things", {
        query: { count: Schema.FiniteFromString.check(Schema.isInt()) },
        success: Schema.Struct({ count: Schema.Finite.check(Schema.isLessThan(10)) })
      })
    )
    .middleware(WellFormed)
)

const routes = HttpApiBuilder.layer(small).pipe(
  Layer.provide(
    HttpApiBuilder.group(small, "things", (handlers) =>
      handlers.handle("show", ({ query }) => Effect.succeed({ count: query.count }))
    )
  ),
  Layer.provide(wellFormed),
  Layer.provide(HttpServer.layerServices)
)

it.live("an invalid query is a 422, an answer outside its contract is a defect", () =>
  Effect.gen(function* () {
    const { dispose, handler } = HttpRouter.toWebHandler(routes, { disableLogger: true })
    yield* Effect.addFinalizer(() => Effect.promise(dispose))
    const ask = (count: string) =>
      Effect.promise(async () => {
        const response = await handler(new Request(`http://localhost/things?count=${count}`))
        return [response.status, await response.text()] as const
      })
    expect(yield* ask("9")).toEqual([200, '{"count":9}'])
    const [status, body] = yield* ask("many")
    expect([status, body]).toEqual([422, expect.stringContaining("count")])
    expect((yield* ask("11"))[0]).toBe(500)
  }).pipe(Effect.scoped)
)
