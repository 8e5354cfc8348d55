/** Bodies that are sent by halves take no more room together than there is, and keep nobody else out. */
import { expect, it } from "@effect/vitest"
import { PassThrough } from "node:stream"
import type { IncomingMessage } from "node:http"
import { Cause, Exit } from "effect"
import fc from "fast-check"
import { describe } from "vitest"
import { type Guest, Rooms } from "../../src/http/BodyRoom.ts"
import { type BodyOutcome, boundedBody } from "../../src/http/BoundedBody.ts"

const MOST = 1_000

const arrival = fc.oneof(
  fc.record({ guest: fc.nat(7), bytes: fc.integer({ min: 0, max: MOST }) }),
  fc.record({ guest: fc.nat(7), bytes: fc.constant(-1) })
)

describe("Rooms", () => {
  it("never hold more than there is, and let the oldest go first", () => {
    fc.assert(
      fc.property(fc.array(arrival, { maxLength: 60 }), (arrivals) => {
        const rooms = new Rooms(MOST)
        const inside: Array<number> = []
        const guests = Array.from({ length: 8 }, (_, id): Guest => ({
          bytes: 0,
          crowdedOut: () => expect(inside.shift()).toBe(id)
        }))
        for (const { guest, bytes } of arrivals) {
          if (bytes < 0) {
            rooms.leave(guests[guest]!)
            if (inside.includes(guest)) inside.splice(inside.indexOf(guest), 1)
          } else {
            if (!inside.includes(guest)) inside.push(guest)
            rooms.grow(guests[guest]!, bytes)
          }
          const held = guests.reduce((sum, one) => sum + one.bytes, 0)
          expect(rooms.size).toEqual({ guests: inside.length, bytes: held })
          expect(held).toBeLessThanOrEqual(MOST)
        }
      })
    )
  })
})

const body = (rooms: Rooms, said?: number) => {
  const stream = new PassThrough()
  const source = Object.assign(stream, {
    headers: said === undefined ? {} : { "content-length": String(said) }
  }) as unknown as IncomingMessage
  const told: Array<BodyOutcome> = []
  const gone: Array<true> = []
  boundedBody(source, 10_000, rooms).read(
    (outcome) => told.push(outcome),
    () => gone.push(true)
  )
  return { stream, told, gone }
}
const turn = () => new Promise((resolve) => setImmediate(resolve))
const failureOf = (outcome: BodyOutcome | undefined) =>
  outcome !== undefined && Exit.isFailure(outcome) ? (Cause.squash(outcome.cause) as { _tag: string })._tag : outcome

describe("A bounded body", () => {
  it("takes no room when it comes whole, and gives back what it took when it ends or its caller goes away", async () => {
    const rooms = new Rooms(MOST)
    const whole = body(rooms, 5)
    whole.stream.write("12345")
    await turn()
    expect(rooms.size).toEqual({ guests: 0, bytes: 0 })
    whole.stream.end()
    const [halves, left] = [body(rooms, 10), body(rooms)]
    halves.stream.write("12345")
    left.stream.write("123")
    await turn()
    expect(rooms.size).toEqual({ guests: 2, bytes: 8 })
    halves.stream.end("67890")
    left.stream.destroy(new Error("aborted"))
    await turn()
    expect(rooms.size).toEqual({ guests: 0, bytes: 0 })
    expect(whole.told).toEqual([Exit.succeed("12345")])
    expect(halves.told).toEqual([Exit.succeed("1234567890")])
    expect([left.told, left.gone]).toEqual([[], [true]])
  })

  it("gives way when it has been coming for longest, is told once, and holds nothing of what still comes", async () => {
    const rooms = new Rooms(MOST)
    const [slow, quick] = [body(rooms), body(rooms)]
    slow.stream.write("x".repeat(600))
    await turn()
    quick.stream.write("y".repeat(600))
    await turn()
    expect(slow.told.map(failureOf)).toEqual(["BodyCrowdedOut"])
    slow.stream.write("x".repeat(600))
    slow.stream.end()
    await turn()
    expect(rooms.size).toEqual({ guests: 1, bytes: 600 })
    quick.stream.end()
    await turn()
    expect(quick.told).toEqual([Exit.succeed("y".repeat(600))])
    expect(slow.told).toHaveLength(1)
  })
})
