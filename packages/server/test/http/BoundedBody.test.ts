/** The byte limit of a body: a body that fits is read whole, a larger one is refused as soon as its size is known. */
import { expect, it } from "@effect/vitest"
import { BodyTooLarge } from "@sluice/api/inference/EdgeFailures"
import { boundedBody, type BodyOutcome } from "@sluice/server/http/BoundedBody"
import { ByteBudget } from "@sluice/server/http/BodyMemoryBudget"
import { Exit } from "effect"
import { EventEmitter } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import { PassThrough } from "node:stream"

const LIMIT = 20_000

const body = (headers: Readonly<Record<string, string>> = {}) => {
  const budget = new ByteBudget(10 * LIMIT)
  const stream = new PassThrough()
  const source = Object.assign(stream, { headers, rawHeaders: [] }) as unknown as IncomingMessage
  const outcomes: Array<BodyOutcome> = []
  const bounded = boundedBody(source, new EventEmitter() as ServerResponse, LIMIT, budget)
  bounded.read((outcome) => outcomes.push(outcome))
  return { bounded, budget, stream, outcomes }
}
const turn = () => new Promise((resolve) => setImmediate(resolve))
const tooLarge = Exit.fail(new BodyTooLarge({ limitBytes: LIMIT }))

it("a body may have exactly as many bytes as the limit, with or without a Content-Length", async () => {
  for (const headers of [{}, { "content-length": String(LIMIT) }]) {
    const { bounded, stream, outcomes } = body(headers)
    stream.end("x".repeat(LIMIT))
    await turn()
    expect([outcomes, bounded.hasOverflowed()]).toEqual([[Exit.succeed("x".repeat(LIMIT))], false])
  }
})

it("one byte more refuses a body without waiting for the rest, and frees its bytes", async () => {
  const { bounded, budget, stream, outcomes } = body()
  stream.write("x".repeat(LIMIT))
  await turn()
  expect([outcomes, budget.size.bytes]).toEqual([[], LIMIT])
  stream.write("x")
  await turn()
  expect([outcomes, bounded.hasOverflowed(), budget.size.bytes]).toEqual([[tooLarge], true, 0])
})

it("a body with a larger Content-Length is refused before its first byte", () => {
  const { bounded, outcomes } = body({ "content-length": String(LIMIT + 1) })
  expect([outcomes, bounded.hasOverflowed()]).toEqual([[tooLarge], true])
})
