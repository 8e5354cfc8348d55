/** Output from a provider into the store: every byte at its offset, secrets masked, the 10 MB rule, and bounded waits. */
import { expect, it } from "@effect/vitest"
import { Replica } from "@sluice/domain/database/Replica"
import { Signals } from "@sluice/domain/database/Signals"
import {
  type MachineProviderService,
  MachineProvider,
  ProviderUnavailable
} from "@sluice/domain/machines/MachineProvider"
import { MachineSecrets } from "@sluice/domain/machines/MachineSecrets"
import { gapOf, LIMIT_BYTES } from "@sluice/domain/machines/OutputLimit"
import { Outputs } from "@sluice/domain/machines/Outputs"
import { MAX_CHUNK_BYTES, OutputStore } from "@sluice/domain/machines/OutputStore"
import { Effect, Fiber, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"

const SECRET = "a very long secret"
const SOURCE = { id: "m", sealed: null }
const bytes = (text: string) => new TextEncoder().encode(text)

interface World {
  readonly written: Uint8Array
  /** The first byte that the provider still has. */
  readonly keptFrom?: number
  /** The offset of the slowest reader. */
  readonly slowest?: number
  readonly hangs?: boolean
  /** The scripts of its streams, in order: the number of bytes of each, and how it continues. */
  readonly streams?: ReadonlyArray<readonly [upTo: number, then: Effect.Effect<void, ProviderUnavailable>]>
}

const set = ({ hangs, keptFrom = 0, slowest, streams = [], written: all }: World) => {
  let written = streams.length === 0 ? all : all.subarray(0, 0)
  const followed: Array<number> = []
  const stored: Array<Uint8Array> = []
  const pruned: Array<readonly [number, number]> = []
  const news: Array<string> = []
  const total = () => stored.reduce((sum, chunk) => sum + chunk.length, 0)
  const provider = {
    read: (_: string, from: number, most: number) => {
      const offset = Math.max(from, keptFrom)
      return hangs ? Effect.never : Effect.succeed({ offset, bytes: written.subarray(offset, offset + most) })
    },
    follow: (_: string, from: number) => {
      const [upTo, then] = streams[followed.length] ?? [0, Effect.void]
      followed.push(from)
      written = all.subarray(0, Math.max(written.length, upTo))
      const piece = { offset: from, bytes: written.subarray(from) }
      return Stream.concat(Stream.make(piece), Stream.drain(Stream.fromEffect(then)))
    }
  } as unknown as MachineProviderService
  const store = {
    append: (_: string, at: number, chunk: Uint8Array) =>
      Effect.sync(() => {
        if (at !== total()) return false
        stored.push(chunk)
        return true
      }),
    source: () => Effect.succeed(SOURCE),
    total: () => Effect.sync(total),
    slowest: () => Effect.succeed(slowest),
    prune: (_: string, from: number, to: number) => Effect.sync(() => void pruned.push([from, to]))
  } as unknown as OutputStore["Service"]
  const secrets = { values: () => Effect.succeed([SECRET]) } as unknown as MachineSecrets["Service"]
  const layer = Outputs.layer.pipe(
    Layer.provide([
      Layer.succeed(MachineProvider, provider),
      Layer.succeed(OutputStore, store),
      Layer.succeed(MachineSecrets, secrets),
      Layer.succeed(Replica, { id: "r", leaseMs: 6_000, scale: 1, lookMs: 1_000 }),
      Layer.succeed(Signals, { emit: (topic) => void news.push(topic), listen: () => Effect.void })
    ])
  )
  const drain = (final: boolean) =>
    Effect.provide(
      Effect.flatMap(Outputs, (outputs) => outputs.drain(SOURCE, total(), final)),
      layer
    )
  return { drain, followed, layer, news, pruned, text: () => Buffer.concat(stored).toString() }
}

it.effect("a secret that a chunk boundary cuts is masked, in the last drain too", () =>
  Effect.gen(function* () {
    const before = "a".repeat(MAX_CHUNK_BYTES - 5)
    const { drain, news, text } = set({ written: bytes(`${before}${SECRET} and a very`) })
    const whole = `${before}${"*".repeat(SECRET.length)} and a very`
    expect(yield* drain(false)).toBe(whole.length - "a very".length)
    expect(yield* drain(true)).toBe(whole.length)
    expect(text() === whole).toBe(true)
    expect(news).toEqual(["output:m", "output:m", "output:m"])
    const { drain: drainAtOnce, text: atOnce } = set({ written: bytes(`${before}${SECRET} and a very`) })
    yield* drainAtOnce(true)
    expect(atOnce() === whole).toBe(true)
  })
)

it.effect("output behind a gap is not stored", () =>
  Effect.gen(function* () {
    const { drain, news, text } = set({ written: bytes("0123456789"), keptFrom: 4 })
    expect([yield* drain(true), text(), news]).toEqual([0, "", []])
  })
)

it.effect("a slow reader delays the drop of the middle for ten polls, and no longer", () =>
  Effect.gen(function* () {
    const written = new Uint8Array(2 * LIMIT_BYTES)
    const { drain, pruned } = set({ written, slowest: 0 })
    const drained = yield* Effect.forkChild(drain(true), { startImmediately: true })
    yield* TestClock.adjust(9_999)
    expect([drained.pollUnsafe(), pruned]).toEqual([undefined, []])
    yield* TestClock.adjust(1_000)
    expect(yield* Fiber.join(drained)).toBe(written.length)
    const gap = gapOf(written.length)!
    expect(pruned.at(-1)).toEqual([gap.from, gap.to])
    // A reader that keeps up, or nearly so, delays nothing.
    const near = set({ written, slowest: written.length - 16 * 1_024 * 1_024 })
    expect(yield* near.drain(true)).toBe(written.length)
    // The reader is in the part that is kept: nothing can be dropped.
    expect(near.pruned).toEqual([])
  })
)

it.effect("a single read waits for a silent provider for one poll", () =>
  Effect.gen(function* () {
    const { layer } = set({ written: bytes("text"), hangs: true })
    const refreshed = yield* Effect.forkChild(
      Effect.provide(
        Effect.flatMap(Outputs, (outputs) => outputs.refresh("m")),
        layer
      ),
      { startImmediately: true }
    )
    yield* TestClock.adjust(999)
    expect(refreshed.pollUnsafe()).toBeUndefined()
    yield* TestClock.adjust(1)
    yield* Fiber.join(refreshed)
  })
)

it.effect("a broken stream resumes from the end of the store, until it ends or has no reader", () =>
  Effect.gen(function* () {
    const broken = Effect.fail(new ProviderUnavailable({ cause: "cut" }))
    const streams = [
      [3, broken],
      [3, Effect.die("broken code")],
      [6, broken],
      [10, Effect.void]
    ] as const
    const { followed, layer, text } = set({ written: bytes("0123456789"), streams })
    const reading = Effect.gen(function* () {
      const outputs = yield* Outputs
      yield* outputs.collect("m")
      yield* TestClock.adjust(0)
      expect([text(), followed]).toEqual(["012", [0]])
      yield* TestClock.adjust(2_000)
      expect([text(), followed]).toEqual(["012", [0, 3]])
      yield* TestClock.adjust(2_000)
      expect([text(), followed]).toEqual(["012345", [0, 3, 3]])
      yield* TestClock.adjust(2_000)
      expect([text(), followed]).toEqual(["0123456789", [0, 3, 3, 6]])
      yield* TestClock.adjust(60_000)
      expect(followed.length).toBe(4)
    })
    yield* Effect.provide(Effect.scoped(reading), layer)
    const left = set({ written: bytes("0123456789"), streams: Array.from({ length: 9 }, () => [3, broken] as const) })
    const reader = Effect.scoped(Effect.flatMap(Outputs, (outputs) => outputs.collect("m")))
    yield* Effect.provide(Effect.andThen(reader, TestClock.adjust(60_000)), left.layer)
    expect(left.followed.length).toBeLessThan(3)
  })
)
