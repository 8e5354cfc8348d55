/** Embeddings through the stock client: similar for similar texts, equal in both encodings, charged to the nano-USD. */
import { expect, layer } from "@effect/vitest"
import { instant } from "@sluice/simulator/models/ModelWorld"
import { Effect, Layer } from "effect"
import { ownPglite } from "@sluice/testing/engines/Databases"
import { money } from "@sluice/testing/fixtures/Workspace"
import { chatServer, simulateModels } from "../support/ChatServer.ts"
import { customer, failure, keys, NANO } from "../support/Customer.ts"

const Running = chatServer(keys, simulateModels(instant(7))).pipe(Layer.provideMerge(ownPglite))
const MODEL = "sluice-embed-small"
const dot = (a: ReadonlyArray<number>, b: ReadonlyArray<number>) => a.reduce((sum, x, i) => sum + x * b[i]!, 0)

layer(Running, { excludeTestServices: true, timeout: "5 minutes" })("embeddings through the stock client", (it) => {
  it.effect("are nearer for more similar texts, in each encoding and number of dimensions", () =>
    Effect.gen(function* () {
      const { client } = yield* customer(NANO)
      const input = [
        "The ledger keeps two entries for each transaction",
        "Each transaction has two entries in the ledger",
        "A cat sleeps in the warm afternoon sun"
      ]
      const ask = (body: object) =>
        Effect.promise(() => client.embeddings.create({ model: MODEL, input, ...body })).pipe(
          Effect.map(({ data }) => data.map(({ embedding }) => embedding))
        )
      const [base64, floats, short] = yield* Effect.all([
        ask({}),
        ask({ encoding_format: "float" }),
        ask({ dimensions: 64 })
      ])
      expect(base64).toEqual(floats)
      for (const vectors of [floats, short]) {
        for (const vector of vectors) expect(dot(vector, vector)).toBeCloseTo(1, 4)
        expect(dot(vectors[0]!, vectors[1]!)).toBeGreaterThan(dot(vectors[0]!, vectors[2]!) + 0.2)
      }
      expect(floats.map((vector) => vector.length)).toEqual([512, 512, 512])
      expect(short.map((vector) => vector.length)).toEqual([64, 64, 64])
      expect(yield* ask({ input: [input[2]!, input[0]!] })).toEqual([base64[2], base64[0]])
      expect((yield* ask({ input: [[1, 2, 3], [4]] })).length).toBe(2)
      const ids = Array.from({ length: 8_000 }, (_, at) => at)
      expect((yield* ask({ input: Array.from({ length: 14 }, () => ids), dimensions: 1 })).length).toBe(14)
    })
  )

  it.effect("cost the tokens of their usage, once", () =>
    Effect.gen(function* () {
      const { client, principal } = yield* customer(NANO)
      const { usage } = yield* Effect.promise(() =>
        client.embeddings.create({ model: MODEL, input: "a text of seven words or so" })
      )
      expect(usage.prompt_tokens).toBe(usage.total_tokens)
      const after = yield* money(principal)
      expect(after).toMatchObject({ held: 0n, usage: 1n })
      expect(NANO - after.balance).toBe(BigInt(usage.prompt_tokens) * 20n)
      expect((usage as { cost?: number }).cost).toBe(Number(NANO - after.balance) / 1e9)
    })
  )

  it.effect("are refused with the name of the wrong field, without a charge", () =>
    Effect.gen(function* () {
      const { client, principal } = yield* customer(NANO)
      const refused = (body: object) =>
        failure(() => client.embeddings.create({ model: MODEL, input: "text", ...body } as never))
      for (const [body, param] of [
        [{ input: [] }, "input"],
        [{ input: "" }, "input"],
        [{ input: ["a", ""] }, "input.1"],
        [{ input: 7 }, "input"],
        [{ input: Array.from({ length: 2_049 }, () => "a") }, "input"],
        [{ input: ["a", "word ".repeat(9_000)] }, "input.1"],
        [{ input: Array.from({ length: 300_010 }, () => 7) }, "input"],
        [{ dimensions: 0 }, "dimensions"],
        [{ dimensions: 513 }, "dimensions"],
        [{ encoding_format: "hex" }, "encoding_format"]
      ] as const) {
        expect(yield* refused(body)).toMatchObject({ status: 400, type: "invalid_request_error", param })
      }
      expect(yield* refused({ model: "sluice-small" })).toMatchObject({ status: 404, code: "model_not_found" })
      const poor = yield* customer(10n)
      expect(
        yield* failure(() => poor.client.embeddings.create({ model: MODEL, input: "more than ten nano-dollars" }))
      ).toMatchObject({ status: 402, code: "insufficient_credits" })
      expect(yield* money(principal)).toMatchObject({ balance: NANO, usage: 0n })
    })
  )

  it.effect("are in the list of models", () =>
    Effect.gen(function* () {
      const { client } = yield* customer(NANO)
      const { data } = yield* Effect.promise(() => client.models.list())
      expect(data.map(({ id }) => id)).toContain(MODEL)
      expect(yield* Effect.promise(() => client.models.retrieve(MODEL))).toMatchObject({ capabilities: ["embeddings"] })
    })
  )
})
