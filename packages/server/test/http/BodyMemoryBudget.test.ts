/** The memory budget of request bodies: half-sent bodies never exceed it together, and never keep other callers out. */
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
  reservation: fc.nat(7),
  what: fc.oneof(fc.integer({ min: 1, max: MAX_BYTES }), fc.constantFrom("leaves" as const, "is whole" as const))
})

describe("Byte budgets", () => {
  it("never exceed their total, give one owner at most half, and evict the oldest incomplete body first", () => {
    fc.assert(
      fc.property(fc.array(arrival, { maxLength: 60 }), (arrivals) => {
        const budget = new ByteBudget(MAX_BYTES)
        const incomplete: Array<number> = []
        const evicted: Array<number> = []
        const reservations = Array.from({ length: 8 }, (_, id): BodyReservation => ({
          owner: `key ${id % 3}`,
          bytes: 0,
          onEvicted: () => void evicted.push(id)
        }))
        const heldBytes = (owner?: string) =>
          reservations.reduce((sum, one) => sum + (owner === undefined || one.owner === owner ? one.bytes : 0), 0)
        const complete = new Set<number>()
        for (const { reservation: id, what } of arrivals) {
          const reservation = reservations[id]!
          const before = [...incomplete]
          evicted.length = 0
          if (what === "leaves") {
            budget.release(reservation)
            complete.delete(id)
          } else if (what === "is whole") {
            budget.complete(reservation)
            if (reservation.bytes > 0) complete.add(id)
          } else if (!complete.has(id)) {
            if (!incomplete.includes(id)) before.push(id)
            budget.grow(reservation, what)
          }
          // The evicted body was the oldest of all, or the oldest of the owner with more than half.
          const rest = before.filter((one) => !evicted.includes(one))
          for (const one of evicted) {
            const older = rest.filter((other) => before.indexOf(other) < before.indexOf(one))
            expect(older.every((other) => reservations[other]!.owner !== reservations[one]!.owner)).toBe(true)
          }
          incomplete.splice(
            0,
            incomplete.length,
            ...rest.filter((one) => !complete.has(one) && !(what === "leaves" && one === id))
          )
          expect(budget.size.bytes).toBe(heldBytes())
          expect(heldBytes()).toBeLessThanOrEqual(MAX_BYTES)
          for (const { owner } of reservations) expect(heldBytes(owner)).toBeLessThanOrEqual(MAX_BYTES / 2)
        }
        for (const reservation of reservations) budget.release(reservation)
        expect(budget.size).toEqual({ owners: 0, bytes: 0 })
      })
    )
  })
})

describe("A byte budget", () => {
  const makeBudget = (most?: number) => {
    const budget = new ByteBudget(most)
    const evicted: Array<string> = []
    return {
      evicted,
      grow: (owner: string, bytes: number) =>
        budget.grow({ owner, bytes: 0, onEvicted: () => evicted.push(owner) }, bytes)
    }
  }

  it("evicts no other owner's bodies for an owner with more than half of it", () => {
    const { evicted, grow } = makeBudget(MAX_BYTES)
    grow("other", 10)
    grow("much", MAX_BYTES / 2)
    grow("much", 1)
    expect(evicted).toEqual(["much"])
  })

  it("has room for one owner's largest body, however small the memory is", () => {
    const { evicted, grow } = makeBudget()
    grow("one", 32 * 1_024 * 1_024)
    expect(evicted).toEqual([])
  })
})

const SMALL = 16_384
const body = (budget: ByteBudget, key: string) => {
  const authorization = `Bearer ${key}`
  const stream = new PassThrough()
  const rawHeaders = ["Authorization", authorization]
  const source = Object.assign(stream, { headers: { authorization }, rawHeaders }) as unknown as IncomingMessage
  const response = new EventEmitter()
  const outcomes: Array<BodyOutcome> = []
  const evicted: Array<true> = []
  boundedBody(source, response as ServerResponse, 1_000_000, budget).read(
    (outcome) => outcomes.push(outcome),
    () => evicted.push(true)
  )
  return { stream, response, outcomes, evicted }
}
const turn = () => new Promise((resolve) => setImmediate(resolve))
const failureOf = (outcome: BodyOutcome | undefined) =>
  outcome !== undefined && Exit.isFailure(outcome) ? (Cause.squash(outcome.cause) as { _tag: string })._tag : outcome

describe("A bounded body", () => {
  it("takes no budget when it is small, and returns its bytes when it is answered or its caller disconnects", async () => {
    const budget = new ByteBudget(10 * SMALL)
    const [small, large, departed] = [body(budget, "a"), body(budget, "b"), body(budget, "c")]
    small.stream.end("x".repeat(SMALL))
    large.stream.write("x".repeat(SMALL))
    await turn()
    expect(budget.size).toEqual({ owners: 0, bytes: 0 })
    large.stream.end("x")
    departed.stream.write("x".repeat(2 * SMALL))
    await turn()
    expect(budget.size).toEqual({ owners: 2, bytes: 3 * SMALL + 1 })
    expect(large.outcomes).toEqual([Exit.succeed("x".repeat(SMALL + 1))])
    departed.stream.destroy(new Error("aborted"))
    departed.response.emit("close")
    await turn()
    expect([departed.outcomes, departed.evicted, budget.size.bytes]).toEqual([[], [true], SMALL + 1])
    large.response.emit("close")
    expect(budget.size).toEqual({ owners: 0, bytes: 0 })
  })

  it("is evicted when it is the oldest incomplete body, notified once, and drops the bytes that still arrive", async () => {
    const budget = new ByteBudget(6 * SMALL)
    const [answered, slow, quick] = [body(budget, "a"), body(budget, "b"), body(budget, "c")]
    answered.stream.end("a".repeat(2 * SMALL))
    slow.stream.write("x".repeat(3 * SMALL))
    await turn()
    quick.stream.write("y".repeat(3 * SMALL))
    await turn()
    expect(slow.outcomes.map(failureOf)).toEqual(["BodyCrowdedOut"])
    slow.stream.end("x".repeat(3 * SMALL))
    await turn()
    expect(budget.size).toEqual({ owners: 2, bytes: 5 * SMALL })
    quick.stream.end()
    await turn()
    expect(quick.outcomes).toEqual([Exit.succeed("y".repeat(3 * SMALL))])
    expect(slow.outcomes).toHaveLength(1)
    // No incomplete body could be evicted: the new body itself is.
    const late = body(budget, "d")
    late.stream.write("z".repeat(2 * SMALL))
    await turn()
    expect(late.outcomes.map(failureOf)).toEqual(["BodyCrowdedOut"])
  })
})

describe("The directory for files", () => {
  afterEach(() => void vi.unstubAllEnvs())

  const lines: Array<string> = []
  const recording = Logger.layer([Logger.make(({ logLevel, message }) => void lines.push(`${logLevel}: ${message}`))])
  /** Runs synchronously: the socket listens meanwhile and no caller is answered. */
  const buildBudget = () =>
    Effect.runSync(Effect.provide(FileSpaceBudget, FileSpaceBudget.layer.pipe(Layer.provide(recording))))

  it("lets the server start where no file can be kept, and logs that for the operator", () => {
    vi.stubEnv("TMPDIR", "/there/is/none")
    const budget = buildBudget()
    const evicted: Array<string> = []
    budget.grow({ owner: "a", bytes: 0, onEvicted: () => evicted.push("a") }, 25_000_000)
    expect(evicted).toEqual([])
    expect(lines).toEqual([expect.stringMatching(/^Warn: .* stored in \/there\/is\/none \(ENOENT\)/)])
  })

  it("logs nothing and keeps nothing in a working directory", () => {
    const { path, remove } = temporaryDirectory()
    vi.stubEnv("TMPDIR", path)
    buildBudget()
    expect([lines.length, readdirSync(path)]).toEqual([1, []])
    remove()
  })

  it("logs its failure once a minute", async () => {
    const budget = new ByteBudget(MAX_BYTES)
    const loggedAt: Array<number> = []
    const now = vi.spyOn(wallClock, "currentTimeMillisUnsafe")
    for (const ms of [0, 1, 59_999, 60_000, 60_001, 120_000]) {
      now.mockReturnValue(ms)
      await Effect.runPromise(budget.logProblem(Effect.sync(() => void loggedAt.push(ms))))
    }
    now.mockRestore()
    expect(loggedAt).toEqual([0, 60_000, 120_000])
  })
})
