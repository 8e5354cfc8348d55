/** The body of POST /embeddings: one text or many, as text or as ids, within the bounds of a request; a refusal names the field. */
import { describe, expect, it } from "@effect/vitest"
import { decodeEmbedding, MAX_IDS } from "@sluice/domain/inference/embeddings/EmbeddingRequest"
import { MAX_TOKENS } from "@sluice/domain/inference/embeddings/Embeddings"
import { parseJson } from "@sluice/domain/models/JsonText"
import { Result } from "effect"

const ids = (count: number) => Array.from({ length: count }, (_, at) => at % 50_000)
const decoded = (input: unknown, more: object = {}) =>
  decodeEmbedding(Result.getOrThrow(parseJson(JSON.stringify({ model: "m", input, ...more }), MAX_IDS)))

describe("the input of embeddings", () => {
  it("is one text or many", () => {
    for (const [input, inputs] of [
      ["a", ["a"]],
      [
        ["a", "b"],
        ["a", "b"]
      ],
      [[1, 2], [[1, 2]]],
      [
        [[1], [2, 3]],
        [[1], [2, 3]]
      ]
    ] as const) {
      expect(Result.getOrThrow(decoded(input)).inputs).toEqual(inputs)
    }
  })

  it("may have all the tokens of a request as ids", () => {
    const all = ids(MAX_TOKENS)
    const parts = Array.from({ length: 2_048 }, (_, at) => (at === 0 ? ids(MAX_TOKENS - 2_047) : [at]))
    expect(Result.getOrThrow(decoded(all)).inputs).toEqual([all])
    expect(Result.getOrThrow(decoded(parts)).inputs).toEqual(parts)
    // Only ids may be so many: as many names, texts and levels block the server for seconds.
    const keys = Object.fromEntries(Array.from({ length: 309_000 }, (_, at) => [`k${at}`, 1]))
    for (const body of [
      { input: "a", ...keys },
      { input: "a", other: Object.keys(keys) },
      { input: ids(2 * MAX_IDS) }
    ]) {
      const read = Result.flatMap(parseJson(JSON.stringify({ model: "m", ...body }), MAX_IDS), decodeEmbedding)
      expect(Result.isFailure(read) && read.failure.message).toContain("values")
    }
    const spread = decodeEmbedding({ model: "m", input: "a", other: Object.keys(keys) })
    expect(Result.isFailure(spread) && spread.failure.message).toContain("values")
  })

  it("is refused by its name, in few words, however many texts there are", () => {
    for (const one of ["a", "x".repeat(500), {}, null, [[]], [{}]]) {
      const input = Array.from({ length: 100_000 }, (_, at) => (at === 99_999 ? 5 : one))
      const text = JSON.stringify({ model: "m", input, user: "ann" })
      const read = Result.flatMap(parseJson(text, MAX_IDS), decodeEmbedding)
      const refusals = [read, decodeEmbedding({ model: "m", input, user: "ann" })]
      for (const refused of refusals) {
        expect(Result.isFailure(refused) && refused.failure).toMatchObject({
          param: "input",
          message: expect.stringMatching(/^Invalid value for 'input': it .{1,80} more than 100000 values$/)
        })
      }
    }
  })

  it("is refused with the path of the invalid field", () => {
    for (const [input, param, said] of [
      [5, "input", "a string or an array"],
      [undefined, "input", "it is required"],
      [[], "input", "from 1 to 2048 texts"],
      [Array.from({ length: 2_049 }, () => "a"), "input", "from 1 to 2048 texts"],
      ["", "input", "an empty text"],
      [["a", ""], "input.1", "an empty text"],
      [[[1], []], "input.1", "an empty text"],
      [[1, "a"], "input.1", "the id of a token"],
      [[...ids(299_999), 1.5], "input.299999", "the id of a token"],
      [[[1], [2, -1]], "input.1.1", "the id of a token"],
      [["a", [1]], "input.1", "to be strings, or all"],
      [[null], "input.0", "a string, or an array of token ids"]
    ] as const) {
      const refused = decoded(input)
      expect(Result.isFailure(refused) && refused.failure).toMatchObject({
        param,
        message: expect.stringContaining(said)
      })
    }
  })
})
