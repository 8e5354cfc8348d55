/** Retry-After in seconds of the caller, however fast the service's clock runs. */
import { expect, layer } from "@effect/vitest"
import { instant } from "@sluice/simulator/models/ModelWorld"
import { Effect, Layer } from "effect"
import { ownPglite } from "@sluice/testing/engines/Databases"
import { WorldSpeed } from "../../src/clock/WorldClock.ts"
import { chatServer, simulateModels } from "./support/ChatServer.ts"
import { customer, failure, keys, NANO } from "./support/Customer.ts"

const Running = chatServer(keys, simulateModels(instant(7))).pipe(
  Layer.provide(Layer.succeed(WorldSpeed, 20)),
  Layer.provideMerge(ownPglite)
)

layer(Running, { excludeTestServices: true, timeout: "5 minutes" })(
  "a service whose clock runs 20 times faster",
  (it) => {
    it.effect("reports the rest of a minute as three seconds", () =>
      Effect.gen(function* () {
        const { client } = yield* customer(NANO, { rateLimitRpm: 1 })
        yield* Effect.promise(() => client.models.list())
        const { headers, message } = yield* failure(() => client.models.list())
        const waitSeconds = Number(headers?.get("retry-after"))
        expect([1, 2, 3]).toContain(waitSeconds)
        expect(message).toContain(`Try again in ${waitSeconds} s.`)
      })
    )
  }
)
