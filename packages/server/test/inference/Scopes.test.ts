/** Scopes of the inference endpoints: read for lists and look-ups, write for requests that cost money. */
import { expect, layer } from "@effect/vitest"
import { InferenceApi } from "@sluice/api/inference/InferenceApi"
import { allScopes } from "@sluice/domain/access/Principal"
import { routesOf } from "@sluice/server/http/RouteTable"
import { instant } from "@sluice/simulator/models/ModelWorld"
import { Effect, Layer } from "effect"
import { ownPglite } from "@sluice/testing/engines/Databases"
import { chatServer, simulateModels } from "./support/ChatServer.ts"
import { customer, keys, NANO } from "./support/Customer.ts"

const Running = chatServer(keys, simulateModels(instant(7))).pipe(Layer.provideMerge(ownPglite))

layer(Running, { excludeTestServices: true, timeout: "5 minutes" })("scopes of the inference surface", (it) => {
  it.effect("are read for look-ups and write for all else, and a refusal names the missing scope", () =>
    Effect.gen(function* () {
      for (const { method, path } of routesOf(InferenceApi)) {
        const needed = method === "GET" ? "inference:read" : "inference:write"
        const { apiKey, url } = yield* customer(NANO, { scopes: allScopes.filter((scope) => scope !== needed) })
        const response = yield* Effect.promise(() =>
          fetch(url + path.replace(":id", "video_01a1fe5d-0000-7000-8000-000000000001"), {
            method,
            headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
            ...(method === "POST" ? { body: "{}" } : {})
          })
        )
        const { error } = (yield* Effect.promise(() => response.json())) as { error?: { message: string } }
        expect([method, path, response.status]).toEqual([method, path, 403])
        expect(error?.message).toContain(needed)
      }
    })
  )
})
