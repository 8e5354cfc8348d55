/**
 * Brings what machines write from their provider into the store: by offset, secrets masked, the 10 MB rule kept.
 *
 * Anyone may drain at any time (the reconciler at each step, a live reader as output comes): the store takes each byte once.
 * Live readers slow the drain down before it may drop bytes that they have not had, but never for long.
 */
import { Clock, Context, Duration, Effect, Layer, RcMap, Stream } from "effect"
import type { Scope } from "effect"
import { Signals } from "../database/Signals.ts"
import { Replica } from "../database/Replica.ts"
import { MachineProvider, type ProviderUnavailable } from "./MachineProvider.ts"
import { MachineSecrets } from "./MachineSecrets.ts"
import * as Mask from "./Mask.ts"
import { gapOf, LIMIT_BYTES, prunable } from "./OutputLimit.ts"
import { MAX_CHUNK_BYTES, OutputStore, type Source } from "./OutputStore.ts"

/** Bytes beyond the rule that are kept for readers who lag. */
const READER_ROOM_BYTES = 16 * 1024 * 1024
/** How long one drain waits for lagging readers, in all, and how often it looks where they are. */
const READER_PATIENCE_MS = 10_000
const READER_LOOK_MS = 100
/** How long who reads once waits for what is there. */
const REFRESH_MS = 1_000
/** When a stream that broke is begun again. */
const AGAIN_MS = 2_000

const NOTHING = new Uint8Array()

export class Outputs extends Context.Service<
  Outputs,
  {
    /** Stores all that is there at present, from byte `position` of the store. `final`: nothing follows. Answers the new end. */
    readonly drain: (source: Source, position: number, final: boolean) => Effect.Effect<number, ProviderUnavailable>
    /** Stores what is there at present, for who reads once; asks the provider no more than once a second for one machine. */
    readonly refresh: (machineId: string) => Effect.Effect<void>
    /** Drains as output comes, for as long as the scope is open; shared by all readers of one machine. */
    readonly collect: (machineId: string) => Effect.Effect<void, never, Scope.Scope>
  }
>()("@sluice/domain/machines/Outputs") {
  static readonly layer = Layer.effect(
    Outputs,
    Effect.gen(function* () {
      const provider = yield* MachineProvider
      const store = yield* OutputStore
      const secrets = yield* MachineSecrets
      const signals = yield* Signals
      const { scale } = yield* Replica
      const clock = yield* Clock.Clock

      /** Drops what the rule drops, unless a live reader still has it ahead; waits for that reader, within reason. */
      const trim = Effect.fnUntraced(function* (machineId: string, total: number, deadline: number) {
        if (total <= LIMIT_BYTES) return
        for (;;) {
          const slowest = yield* store.slowest(machineId)
          const range = prunable(total, slowest)
          if (range !== undefined) yield* store.prune(machineId, range.from, range.to)
          const lag = slowest === undefined ? 0 : total - slowest
          if (lag <= READER_ROOM_BYTES) return
          if (clock.currentTimeMillisUnsafe() >= deadline) break
          yield* Effect.sleep(READER_LOOK_MS * scale)
        }
        const gap = gapOf(total)
        if (gap !== undefined) yield* store.prune(machineId, gap.from, gap.to)
      })

      const drain = Effect.fnUntraced(function* (source: Source, position: number, final: boolean) {
        const deadline = clock.currentTimeMillisUnsafe() + READER_PATIENCE_MS * scale
        let end = position
        let needles: ReadonlyArray<Uint8Array> | undefined
        for (;;) {
          const output = yield* provider.read(source.id, end, MAX_CHUNK_BYTES)
          // What is stored already is passed over; what begins behind a hole waits until the hole is filled.
          const bytes = output.offset > end ? NOTHING : output.bytes.subarray(end - output.offset)
          if (bytes.length === 0) return end
          needles ??= Mask.needles(yield* secrets.values(source))
          // A full piece is never the last one: its tail is judged again with what follows.
          const last = final && output.bytes.length < MAX_CHUNK_BYTES
          const masked = Mask.mask(bytes, needles, last)
          if (masked.length === 0) return end
          const appended = yield* store.append(source.id, end, masked)
          end = appended ? end + masked.length : yield* store.total(source.id)
          signals.emit(`output:${source.id}`)
          yield* trim(source.id, end, deadline)
          // Less than was asked for was all that there is: what comes now is for the next drain.
          if (appended && output.bytes.length < MAX_CHUNK_BYTES) return end
        }
      })

      /** Until the machine has ended and all is stored. A stream that broke is begun again from where the store is. */
      const followed = (source: Source): Effect.Effect<void> =>
        Effect.flatMap(store.total(source.id), (from) =>
          Stream.runForEach(provider.follow(source.id, from), () =>
            Effect.flatMap(store.total(source.id), (at) => drain(source, at, false))
          )
        ).pipe(Effect.catchCause(() => Effect.andThen(Effect.sleep(AGAIN_MS * scale), followed(source))))

      const collectors = yield* RcMap.make({
        lookup: (machineId: string) =>
          Effect.gen(function* () {
            const source = yield* store.source(machineId)
            if (source !== undefined) yield* Effect.forkScoped(followed(source))
          }),
        idleTimeToLive: Duration.seconds(1)
      })

      const refreshes = yield* RcMap.make({
        lookup: (machineId: string) =>
          Effect.gen(function* () {
            const source = yield* store.source(machineId)
            if (source !== undefined) yield* drain(source, yield* store.total(machineId), false)
          }).pipe(Effect.timeoutOption(REFRESH_MS * scale), Effect.ignoreCause),
        idleTimeToLive: Duration.seconds(1)
      })

      return Outputs.of({
        drain,
        refresh: (machineId) => Effect.scoped(RcMap.get(refreshes, machineId)),
        collect: (machineId) => RcMap.get(collectors, machineId)
      })
    })
  )
}
