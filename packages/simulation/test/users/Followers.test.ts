/** What a follower was told is held against the stored log: any difference is found. */
import type { Job } from "@sluice/domain/jobs/Job"
import type { LogEvent } from "@sluice/domain/jobs/JobLogs"
import { LIMIT_BYTES } from "@sluice/domain/machines/OutputLimit"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { misled, Told } from "../../src/users/Followers.ts"

const END: LogEvent = { _tag: "End", job: {} as Job }
const logOf = (next: number, bytes: Uint8Array): LogEvent => ({ _tag: "Log", next, bytes })

const told = (...events: ReadonlyArray<LogEvent>) => {
  const one = new Told()
  for (const event of events) one.hear(event)
  return one
}

/** The same text in pieces of such sizes. */
const inPieces = (text: Uint8Array, sizes: ReadonlyArray<number>): ReadonlyArray<LogEvent> => {
  const events: Array<LogEvent> = []
  let at = 0
  for (const size of [...sizes, text.length]) {
    const bytes = text.subarray(at, at + size)
    at += bytes.length
    if (bytes.length > 0) events.push(logOf(at, bytes))
  }
  return [...events, END]
}

const texts = fc.uint8Array({ minLength: 1, maxLength: 60 })
const sizes = fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 8 })

describe("A follower", () => {
  it("was told the log, however it was cut", () => {
    fc.assert(
      fc.property(texts, sizes, sizes, (text, some, others) => {
        assert.deepStrictEqual(misled(told(...inPieces(text, some)), told(...inPieces(text, others))), [])
      })
    )
  })

  it("was not told the log where a byte is another, is missing, comes twice or comes after the end", () => {
    fc.assert(
      fc.property(texts, sizes, fc.nat(59), (text, some, where) => {
        const at = where % text.length
        const stored = () => told(...inPieces(text, []))
        const other = text.with(at, text[at]! ^ 1)
        assert.lengthOf(misled(told(...inPieces(other, some)), stored()), 1)
        const without = Uint8Array.from([...text.subarray(0, at), ...text.subarray(at + 1)])
        assert.isNotEmpty(misled(told(...inPieces(without, some)), stored()))
        const [first, ...rest] = inPieces(text, some)
        assert.isNotEmpty(misled(told(first!, first!, ...rest), stored()))
        assert.isNotEmpty(misled(told(...inPieces(text, some), first!), stored()))
      })
    )
  })

  it("may be told of a gap where more was written than is kept, and of none before", () => {
    const [head, tail] = [new Uint8Array(10).fill(1), new Uint8Array(10).fill(2)]
    const gapped = (to: number) => told(logOf(10, head), { _tag: "Gap", from: 10, to }, logOf(to + 10, tail), END)
    assert.deepStrictEqual(misled(gapped(20), gapped(20)), ["was told of a gap in a log that is kept whole"])
    assert.deepStrictEqual(misled(gapped(LIMIT_BYTES), gapped(LIMIT_BYTES)), [])
    // Who kept up was told what is not stored any more.
    const all = told(...inPieces(Buffer.concat([head, Buffer.alloc(LIMIT_BYTES - 10, 7), tail]), []))
    assert.deepStrictEqual(misled(all, gapped(LIMIT_BYTES)), [])
  })
})
