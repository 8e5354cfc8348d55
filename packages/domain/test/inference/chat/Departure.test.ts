/** Holds of answers without a charge: released when the caller disconnects before the model is called, or the answer can't be counted. */
import { NodeCrypto } from "@effect/platform-node"
import { expect, it } from "@effect/vitest"
import { decodeChat } from "@sluice/domain/inference/chat/Chat"
import { Inference } from "@sluice/domain/inference/chat/Inference"
import { Metering } from "@sluice/domain/metering/Metering"
import { type Settlement } from "@sluice/domain/metering/Settlement"
import { ModelProvider } from "@sluice/domain/models/ModelProvider"
import { Tokens } from "@sluice/domain/models/Tokens"
import { Deferred, Effect, Exit, Fiber, Layer, Result, Stream } from "effect"
import { saying } from "@sluice/testing/fixtures/Answers"
import { modelAt } from "@sluice/testing/fixtures/Models"
import { idOf, replica } from "@sluice/testing/fixtures/Workspace"

const request = Result.getOrThrow(decodeChat({ model: "m", messages: [{ role: "user", content: "hello" }] }))
const characters = Tokens.by((text) => text.length)

it.effect("a caller that disconnects before the model is called pays nothing, and the model is not called", () =>
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
        Layer.succeed(Tokens, characters),
        NodeCrypto.layer,
        replica
      ])
    )
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

it.effect("an answer that can't be counted costs nothing and leaves no hold, for any end", () =>
  Effect.gen(function* () {
    const settled: Array<Settlement> = []
    const text = Stream.make({ _tag: "Text", index: 0, text: "yes" } as const)
    const whole = Stream.concat(text, Stream.make({ _tag: "Finish", index: 0, reason: "stop" } as const))
    for (const said of [whole, text]) {
      const layer = Inference.layerNoDeps.pipe(
        Layer.provide([
          Layer.succeed(Metering, {
            reserve: Effect.succeed,
            settle: (settlement) => Effect.sync(() => void settled.push(settlement))
          }),
          Layer.succeed(ModelProvider, { models: [modelAt(1n, 1n)], chat: saying(said) }),
          Layer.succeed(Tokens, { ...characters, countOutput: () => Effect.die(new Error("its thread died")) }),
          NodeCrypto.layer,
          replica
        ])
      )
      const inference = yield* Effect.provide(Inference, layer)
      const exit = yield* Effect.exit(inference.chat(idOf.principal(1), "r", request, () => Effect.void))
      expect(Exit.hasDies(exit)).toBe(true)
    }
    const nothing = { cost: 0n, tokens: null }
    expect(settled.map(({ cost, tokens }) => ({ cost, tokens }))).toEqual([nothing, nothing])
  })
)
