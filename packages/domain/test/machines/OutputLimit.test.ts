/** The 10 MB rule equals its naive model for any chunking. */
import { assert, describe, it } from "@effect/vitest"
import * as Limit from "@sluice/domain/machines/OutputLimit"
import fc from "fast-check"

const text = new TextDecoder()
const bytes = new TextEncoder()

/** The output that a reader sees after the end: whole chunks as stored, cut by the rule. */
const stored = (chunks: ReadonlyArray<Limit.Chunk>, total: number, rule: Limit.Limits): string => {
  const gap = Limit.gapOf(total, rule)
  const parts: Array<string> = []
  let marked = false
  for (const chunk of chunks) {
    const head = gap === undefined ? chunk : Limit.chunkBefore(chunk, gap.from)
    const tail = gap === undefined ? undefined : Limit.chunkFrom(chunk, gap.to)
    if (head !== undefined) parts.push(text.decode(head.bytes))
    if (gap !== undefined && !marked && chunk.start + chunk.bytes.length > gap.from) {
      parts.push(Limit.gapLine(gap))
      marked = true
    }
    if (tail !== undefined) parts.push(text.decode(tail.bytes))
  }
  return parts.join("")
}

const naive = (output: string, rule: Limit.Limits): string => {
  if (output.length <= rule.limit) return output
  const tail = rule.limit - rule.head
  const dropped = output.length - rule.limit
  return `${output.slice(0, rule.head)}\n[... ${dropped} bytes dropped ...]\n${output.slice(output.length - tail)}`
}

const letters = fc.string({ unit: fc.constantFrom("a", "b", "c", "\n"), maxLength: 12 })

describe("OutputLimit", () => {
  it("equals its naive model for any chunking, pruned after each append", () => {
    fc.assert(
      fc.property(
        fc.array(letters, { maxLength: 30 }),
        fc.integer({ min: 2, max: 20 }),
        fc.array(fc.option(fc.nat(200), { nil: undefined }), { minLength: 30, maxLength: 30 }),
        (pieces, limit, readers) => {
          const rule = { limit, head: limit >> 1 }
          let chunks: Array<Limit.Chunk> = []
          let total = 0
          pieces.forEach((piece, i) => {
            if (piece.length > 0) chunks.push({ start: total, bytes: bytes.encode(piece) })
            total += piece.length
            const range = Limit.prunableRange(total, readers[i], rule)
            if (range === undefined) return
            if (readers[i] !== undefined) assert.isAtMost(range.to, readers[i]!, "a live reader loses nothing")
            chunks = chunks.filter((c) => c.start < range.from || c.start + c.bytes.length > range.to)
          })
          assert.strictEqual(stored(chunks, total, rule), naive(pieces.join(""), rule))
        }
      ),
      { numRuns: 3_000 }
    )
  })

  it("keeps 10,485,760 bytes: half from the start, half from the end", () => {
    assert.isUndefined(Limit.gapOf(10_485_760))
    assert.deepStrictEqual(Limit.gapOf(10_485_761), { from: 5_242_880, to: 5_242_881 })
  })
})
