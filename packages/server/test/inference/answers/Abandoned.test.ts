/** Requests of a caller that disconnects: the output so far is charged, soon and once. */
import { expect, layer } from "@effect/vitest"
import type { Principal } from "@sluice/domain/access/Principal"
import * as DomainMetrics from "@sluice/domain/metrics/Metrics"
import { defaultWorld } from "@sluice/simulator/models/ModelWorld"
import { Effect, Fiber, Layer, Schedule } from "effect"
import { ownPglite } from "@sluice/testing/engines/Databases"
import { money } from "@sluice/testing/fixtures/Workspace"
import { chatServer, simulateModels } from "../support/ChatServer.ts"
import { customer, keys, NANO, user } from "../support/Customer.ts"

/** The balance once no hold is open. */
const settled = (principal: Principal) =>
  money(principal).pipe(
    Effect.filterOrFail((row) => row.openHolds === 0n && row.usage > 0n),
    Effect.retry(Schedule.spaced("20 millis").pipe(Schedule.upTo({ times: 10_000 }))),
    Effect.orDie
  )

const Paced = chatServer(keys, simulateModels(defaultWorld(7))).pipe(
  Layer.provideMerge(ownPglite),
  Layer.provideMerge(DomainMetrics.layer)
)

/** The number of requests counted as abandoned; by then none may be counted as open, ok, failed or refused. */
const left = Effect.map(DomainMetrics.Metrics, ({ modelOpen, modelRequests }) => {
  for (const { content, values } of modelOpen.all) expect([values, content.value]).toEqual([values, 0])
  for (const end of ["ok", "failed", "refused"] as const) expect(modelRequests.of("sluice-large", end).value).toBe(0)
  return modelRequests.of("sluice-large", "abandoned").value
})

layer(Paced, { excludeTestServices: true, timeout: "5 minutes" })("a caller that goes away", (it) => {
  it.effect("pays for the streamed output so far, within a second", () =>
    Effect.gen(function* () {
      for (const cut of [1, 4, 11]) {
        const { client, principal } = yield* customer(10n * NANO)
        const seen = yield* Effect.promise(async () => {
          const stream = await client.chat.completions.create({
            model: "sluice-large",
            messages: user("Tell me about rivers."),
            stream: true
          })
          let words = 0
          for await (const chunk of stream) {
            if (chunk.choices[0]?.delta.content !== undefined && ++words === cut) break
          }
          return words
        })
        expect(seen).toBe(cut)
        const row = yield* settled(principal)
        // A word has at least one token. The whole answer has 60 words, and the last 49 of them take more than a second.
        expect(row.spent).toBeGreaterThanOrEqual(BigInt(cut) * 10_000n)
        expect(row.spent).toBeLessThan(60n * 10_000n)
        expect(row).toMatchObject({ held: 0n, usage: 1n, entries: 0n })
      }
      expect(yield* left).toBe(3)
    })
  )

  it.effect("pays for the buffered output so far, within a second", () =>
    Effect.gen(function* () {
      const { client, principal } = yield* customer(10n * NANO)
      const body = { model: "sluice-large", messages: user("Tell me about rivers.") }
      const asked = yield* Effect.forkChild(
        Effect.promise((signal) => client.chat.completions.create(body, { signal }))
      )
      yield* money(principal).pipe(
        Effect.filterOrFail(({ openHolds }) => openHolds > 0n),
        Effect.retry(Schedule.spaced("20 millis"))
      )
      yield* Effect.sleep("900 millis")
      yield* Fiber.interrupt(asked)
      const row = yield* settled(principal)
      expect(row.spent).toBeGreaterThan(10_000n)
      expect(row).toMatchObject({ held: 0n, usage: 1n, entries: 0n })
      expect(yield* left).toBe(4)
    })
  )
})
