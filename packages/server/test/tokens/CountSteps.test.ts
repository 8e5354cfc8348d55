/** Counting in steps: the sum equals one count, stops beyond its limit, and no step sees more than a slice. */
import { expect, it } from "@effect/vitest"
import { SLICE_LENGTH } from "@sluice/domain/models/Tokens"
import { countInSteps, fitInSteps } from "@sluice/server/tokens/CountSteps"
import { makeTokenizer } from "@sluice/server/tokens/Tokenizer"
import fc from "fast-check"

const { count, fit, slices } = makeTokenizer()
const unlimited = Number.POSITIVE_INFINITY

const piece = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.lorem({ maxCount: 20, mode: "sentences" }),
  fc.constantFrom(
    "",
    " ",
    "\n\n",
    "\ud800",
    "\u{1f600}",
    "a".repeat(3_000),
    "\u6c34".repeat(700),
    "x\u{20bb7}".repeat(1_500)
  )
)
const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(""))
const texts = fc.array(text, { maxLength: 6 })

/** The total of all steps, and the amount of text of each. */
const whole = <A>(run: (look: (slice: string) => void) => Generator<undefined, A>) => {
  const seen = [0]
  const steps = run((slice) => void (seen[seen.length - 1]! += slice.length))
  for (let next = steps.next(); ; next = steps.next()) {
    if (next.done === true) return { answer: next.value, seen }
    seen.push(0)
  }
}

const counted = (all: ReadonlyArray<string>, limit: number, limitOfAll: number, countSlice = slices.count) =>
  whole((look) =>
    countInSteps(all, limit, limitOfAll, (slice) => {
      look(slice)
      return countSlice(slice)
    })
  )

it("a count in steps equals one count, for any texts", () => {
  fc.assert(
    fc.property(texts, (all) => {
      const { answer, seen } = counted(all, unlimited, unlimited)
      expect(answer).toEqual(all.map(count))
      // A surrogate pair is not cut in two.
      expect(Math.max(...seen)).toBeLessThanOrEqual(SLICE_LENGTH + 1)
    }),
    { numRuns: 200 }
  )
})

it("a count in steps is exact within the limits, and reports the rest as beyond", () => {
  const limits = fc.integer({ min: 0, max: 6_000 })
  fc.assert(
    fc.property(texts, limits, limits, (all, limit, limitOfAll) => {
      const { answer } = counted(all, limit, limitOfAll)
      let sum = 0
      for (const [index, tokens] of answer.entries()) {
        const exact = count(all[index]!)
        if (tokens <= limit && sum + tokens <= limitOfAll) expect(tokens).toBe(exact)
        else expect(exact > limit || sum + exact > limitOfAll).toBe(true)
        sum += tokens
      }
      if (sum <= limitOfAll) expect(answer.length).toBe(all.length)
    }),
    { numRuns: 200 }
  )
})

it("a count in steps reads no more of a text than passes the limit", () => {
  const letters = (slice: string) => slice.length
  const huge = "a".repeat(1_000 * SLICE_LENGTH)
  const { answer, seen } = counted([huge, "short"], 2 * SLICE_LENGTH, unlimited, letters)
  expect(answer).toEqual([3 * SLICE_LENGTH, 5])
  expect(seen).toEqual([SLICE_LENGTH, SLICE_LENGTH, SLICE_LENGTH, 5])
  expect(counted([huge, "short"], 10, 10, letters)).toEqual({ answer: [SLICE_LENGTH], seen: [SLICE_LENGTH] })
})

it("a count in steps puts short texts together in one step", () => {
  const words = Array.from({ length: 10 }, () => "a".repeat(1_000))
  expect(counted(words, unlimited, unlimited, (slice) => slice.length).seen).toEqual([4_000, 4_000, 2_000])
})

it("a fit in steps equals one fit, with one slice a step", () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 3_000 }), (one, limit) => {
      const { answer, seen } = whole((look) =>
        fitInSteps(one, limit, { ...slices, count: (slice) => (look(slice), slices.count(slice)) })
      )
      expect(answer).toBe(fit(one, limit))
      expect(Math.max(...seen)).toBeLessThanOrEqual(SLICE_LENGTH + 1)
    }),
    { numRuns: 200 }
  )
})
