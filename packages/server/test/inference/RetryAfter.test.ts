/** Waits are told in the caller's seconds, however fast the service's clock runs. */
import { expect, layer } from "@effect/vitest"
import { instant } from "@sluice/simulator/models/ModelWorld"
import { Effect, Layer } from "effect"
import { ownPglite } from "@sluice/testing/engines/Databases"
import { WorldSpeed } from "../../src/clock/WorldClock.ts"
import { chatServer, simulated } from "./support/ChatServer.ts"
import { customer, failure, keys, NANO } from "./support/Customer.ts"

const Running = chatServer(keys, simulated(instant(7))).pipe(
  Layer.provide(Layer.succeed(WorldSpeed, 20)),
  Layer.provideMerge(ownPglite)
)

layer(Running, { excludeTestServices: true, timeout: "5 minutes" })(
  "a service whose clock runs 20 times faster",
  (it) => {
    it.effect("tells the rest of a minute in three seconds", () =>
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
