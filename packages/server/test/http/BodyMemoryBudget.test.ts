/** Bodies that are sent by halves take no more room together than there is, and keep nobody else out. */
import { expect, it } from "@effect/vitest"
import { readdirSync } from "node:fs"
import { PassThrough } from "node:stream"
import { EventEmitter } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import { Cause, Effect, Exit, Layer, Logger } from "effect"
import fc from "fast-check"
import { afterEach, describe, vi } from "vitest"
import { temporaryDirectory } from "@sluice/testing/servers/ServerProcess"
import { wallClock } from "../../src/clock/WallTime.ts"
import { FileSpaceBudget, type BodyReservation, ByteBudget } from "../../src/http/BodyMemoryBudget.ts"
import { type BodyOutcome, boundedBody } from "../../src/http/BoundedBody.ts"

const MAX_BYTES = 1_000

const arrival = fc.record({
  guest: fc.nat(7),
  what: fc.oneof(fc.integer({ min: 1, max: MAX_BYTES }), fc.constantFrom("leaves" as const, "is whole" as const))
})

describe("Rooms", () => {
  it("never hold more than there is, half of it for one owner, and let the oldest go first that still comes", () => {
    fc.assert(
      fc.property(fc.array(arrival, { maxLength: 60 }), (arrivals) => {
        const rooms = new ByteBudget(MAX_BYTES)
        const coming: Array<number> = []
        const gone: Array<number> = []
        const guests = Array.from({ length: 8 }, (_, id): BodyReservation => ({
          owner: `key ${id % 3}`,
          bytes: 0,
          onEvicted: () => void gone.push(id)
        }))
        const held = (owner?: string) =>
          guests.reduce((sum, one) => sum + (owner === undefined || one.owner === owner ? one.bytes : 0), 0)
        const settled = new Set<number>()
        for (const { guest: id, what } of arrivals) {
          const guest = guests[id]!
          const before = [...coming]
          gone.length = 0
          if (what === "leaves") {
            rooms.release(guest)
            settled.delete(id)
          } else if (what === "is whole") {
            rooms.complete(guest)
            if (guest.bytes > 0) settled.add(id)
          } else if (!settled.has(id)) {
            if (!coming.includes(id)) before.push(id)
            rooms.grow(guest, what)
          }
          // Who went was the oldest of all, or the oldest of the owner who had more than half.
          const rest = before.filter((one) => !gone.includes(one))
          for (const one of gone) {
            const older = rest.filter((other) => before.indexOf(other) < before.indexOf(one))
            expect(older.every((other) => guests[other]!.owner !== guests[one]!.owner)).toBe(true)
          }
          coming.splice(
            0,
            coming.length,
            ...rest.filter((one) => !settled.has(one) && !(what === "leaves" && one === id))
          )
          expect(rooms.size.bytes).toBe(held())
          expect(held()).toBeLessThanOrEqual(MAX_BYTES)
          for (const { owner } of guests) expect(held(owner)).toBeLessThanOrEqual(MAX_BYTES / 2)
        }
        for (const guest of guests) rooms.release(guest)
        expect(rooms.size).toEqual({ owners: 0, bytes: 0 })
      })
    )
  })
})

describe("A room", () => {
  const rooms = (most?: number) => {
    const room = new ByteBudget(most)
    const gone: Array<string> = []
    return {
      gone,
      grow: (owner: string, bytes: number) => room.grow({ owner, bytes: 0, onEvicted: () => gone.push(owner) }, bytes)
    }
  }

  it("has no other owner's bodies give way to one who has more than half of it", () => {
    const { gone, grow } = rooms(MAX_BYTES)
    grow("other", 10)
    grow("much", MAX_BYTES / 2)
    grow("much", 1)
    expect(gone).toEqual(["much"])
  })

  it("has place for the largest body of one owner, however little memory there is", () => {
    const { gone, grow } = rooms()
    grow("one", 32 * 1_024 * 1_024)
    expect(gone).toEqual([])
  })
})

const SMALL = 16_384
const body = (rooms: ByteBudget, key: string) => {
  const authorization = `Bearer ${key}`
  const stream = new PassThrough()
  const rawHeaders = ["Authorization", authorization]
  const source = Object.assign(stream, { headers: { authorization }, rawHeaders }) as unknown as IncomingMessage
  const response = new EventEmitter()
  const told: Array<BodyOutcome> = []
  const gone: Array<true> = []
  boundedBody(source, response as ServerResponse, 1_000_000, rooms).read(
    (outcome) => told.push(outcome),
    () => gone.push(true)
  )
  return { stream, response, told, gone }
}
const turn = () => new Promise((resolve) => setImmediate(resolve))
const failureOf = (outcome: BodyOutcome | undefined) =>
  outcome !== undefined && Exit.isFailure(outcome) ? (Cause.squash(outcome.cause) as { _tag: string })._tag : outcome

describe("A bounded body", () => {
  it("takes no room when it is small, and gives back what it took when it is answered or its caller goes away", async () => {
    const rooms = new ByteBudget(10 * SMALL)
    const [small, large, left] = [body(rooms, "a"), body(rooms, "b"), body(rooms, "c")]
    small.stream.end("x".repeat(SMALL))
    large.stream.write("x".repeat(SMALL))
    await turn()
    expect(rooms.size).toEqual({ owners: 0, bytes: 0 })
    large.stream.end("x")
    left.stream.write("x".repeat(2 * SMALL))
    await turn()
    expect(rooms.size).toEqual({ owners: 2, bytes: 3 * SMALL + 1 })
    expect(large.told).toEqual([Exit.succeed("x".repeat(SMALL + 1))])
    left.stream.destroy(new Error("aborted"))
    left.response.emit("close")
    await turn()
    expect([left.told, left.gone, rooms.size.bytes]).toEqual([[], [true], SMALL + 1])
    large.response.emit("close")
    expect(rooms.size).toEqual({ owners: 0, bytes: 0 })
  })

  it("gives way when it has been coming for longest, is told once, and holds nothing of what still comes", async () => {
    const rooms = new ByteBudget(6 * SMALL)
    const [answered, slow, quick] = [body(rooms, "a"), body(rooms, "b"), body(rooms, "c")]
    answered.stream.end("a".repeat(2 * SMALL))
    slow.stream.write("x".repeat(3 * SMALL))
    await turn()
    quick.stream.write("y".repeat(3 * SMALL))
    await turn()
    expect(slow.told.map(failureOf)).toEqual(["BodyCrowdedOut"])
    slow.stream.end("x".repeat(3 * SMALL))
    await turn()
    expect(rooms.size).toEqual({ owners: 2, bytes: 5 * SMALL })
    quick.stream.end()
    await turn()
    expect(quick.told).toEqual([Exit.succeed("y".repeat(3 * SMALL))])
    expect(slow.told).toHaveLength(1)
    // Nothing that still comes could go: it goes itself.
    const late = body(rooms, "d")
    late.stream.write("z".repeat(2 * SMALL))
    await turn()
    expect(late.told.map(failureOf)).toEqual(["BodyCrowdedOut"])
  })
})

describe("The room for files", () => {
  afterEach(() => void vi.unstubAllEnvs())

  const lines: Array<string> = []
  const recording = Logger.layer([Logger.make(({ logLevel, message }) => void lines.push(`${logLevel}: ${message}`))])
  /** At once: the socket listens meanwhile, with nobody to answer. */
  const built = () =>
    Effect.runSync(Effect.provide(FileSpaceBudget, FileSpaceBudget.layer.pipe(Layer.provide(recording))))

  it("is there where no file can be kept, so that the server serves, and the operator is told", () => {
    vi.stubEnv("TMPDIR", "/there/is/none")
    const room = built()
    const gone: Array<string> = []
    room.grow({ owner: "a", bytes: 0, onEvicted: () => gone.push("a") }, 25_000_000)
    expect(gone).toEqual([])
    expect(lines).toEqual([expect.stringMatching(/^Warn: .* stored in \/there\/is\/none \(ENOENT\)/)])
  })

  it("is there without a word, and nothing is left in it, where all is well", () => {
    const { path, remove } = temporaryDirectory()
    vi.stubEnv("TMPDIR", path)
    built()
    expect([lines.length, readdirSync(path)]).toEqual([1, []])
    remove()
  })

  it("complains once a minute", async () => {
    const room = new ByteBudget(MAX_BYTES)
    const said: Array<number> = []
    const now = vi.spyOn(wallClock, "currentTimeMillisUnsafe")
    for (const ms of [0, 1, 59_999, 60_000, 60_001, 120_000]) {
      now.mockReturnValue(ms)
      await Effect.runPromise(room.logProblem(Effect.sync(() => void said.push(ms))))
    }
    now.mockRestore()
    expect(said).toEqual([0, 60_000, 120_000])
  })
})
