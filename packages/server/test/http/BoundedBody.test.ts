/** The bound of a body, to the byte: what fits is read whole, what does not is refused as soon as that is known. */
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
  const rooms = new ByteBudget(10 * LIMIT)
  const stream = new PassThrough()
  const source = Object.assign(stream, { headers, rawHeaders: [] }) as unknown as IncomingMessage
  const told: Array<BodyOutcome> = []
  const bounded = boundedBody(source, new EventEmitter() as ServerResponse, LIMIT, rooms)
  bounded.read((outcome) => told.push(outcome))
  return { bounded, rooms, stream, told }
}
const turn = () => new Promise((resolve) => setImmediate(resolve))
const tooLarge = Exit.fail(new BodyTooLarge({ limitBytes: LIMIT }))

it("A body may have as many bytes as the limit, whether it says so before or not", async () => {
  for (const headers of [{}, { "content-length": String(LIMIT) }]) {
    const { bounded, stream, told } = body(headers)
    stream.end("x".repeat(LIMIT))
    await turn()
    expect([told, bounded.hasOverflowed()]).toEqual([[Exit.succeed("x".repeat(LIMIT))], false])
  }
})

it("One byte more refuses it, without waiting for the rest, and nothing of it is held any longer", async () => {
  const { bounded, rooms, stream, told } = body()
  stream.write("x".repeat(LIMIT))
  await turn()
  expect([told, rooms.size.bytes]).toEqual([[], LIMIT])
  stream.write("x")
  await turn()
  expect([told, bounded.hasOverflowed(), rooms.size.bytes]).toEqual([[tooLarge], true, 0])
})

it("A body that says that it has more is refused before any of it comes", () => {
  const { bounded, told } = body({ "content-length": String(LIMIT + 1) })
  expect([told, bounded.hasOverflowed()]).toEqual([[tooLarge], true])
})
