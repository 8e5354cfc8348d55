/** A caller that goes away before the model is asked, as while its money is set aside, pays nothing: nothing was made. */
import { NodeCrypto } from "@effect/platform-node"
import { expect, it } from "@effect/vitest"
import { decodeChat } from "@sluice/domain/inference/Chat"
import { Inference } from "@sluice/domain/inference/Inference"
import { Metering, type Settlement } from "@sluice/domain/inference/Metering"
import { ModelProvider } from "@sluice/domain/inference/ModelProvider"
import { Tokens } from "@sluice/domain/inference/Tokens"
import { Deferred, Effect, Fiber, Layer, Result } from "effect"
import { modelAt } from "./support/Models.ts"
import { idOf, replica } from "./support/Workspace.ts"

it.effect("a caller that goes away before the model is asked pays nothing, and asks no model", () =>
  Effect.gen(function* () {
    const reserving = yield* Deferred.make<void>()
    const reserved = yield* Deferred.make<void>()
    const settled: Array<Settlement> = []
    let asked = 0
    const layer = Inference.layerNoDeps.pipe(
      Layer.provide([
        Layer.succeed(Metering, {
          reserve: (charge) =>
            Effect.andThen(Deferred.succeed(reserving, undefined), Effect.as(Deferred.await(reserved), charge)),
          settle: (settlement) => Effect.sync(() => void settled.push(settlement))
        }),
        Layer.succeed(ModelProvider, { models: [modelAt(1n, 1n)], chat: () => Effect.sync(() => void asked++) }),
        Layer.succeed(
          Tokens,
          Tokens.by((text) => text.length)
        ),
        NodeCrypto.layer,
        replica
      ])
    )
    const request = Result.getOrThrow(decodeChat({ model: "m", messages: [{ role: "user", content: "hello" }] }))
    const inference = yield* Effect.provide(Inference, layer)
    const asking = yield* Effect.forkChild(inference.chat(idOf.principal(1), "r", request))
    yield* Deferred.await(reserving)
    const leaving = yield* Effect.forkChild(Fiber.interrupt(asking))
    yield* Effect.yieldNow
    yield* Deferred.succeed(reserved, undefined)
    yield* Fiber.join(leaving)
    expect([asked, settled.map(({ cost, tokens }) => ({ cost, tokens }))]).toEqual([0, [{ cost: 0n, tokens: null }]])
  })
)
