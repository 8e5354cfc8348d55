/**
 * Copies the output of machines from their provider into the store: by offset, with secrets masked, within the 10 MB
 * rule.
 *
 * Any caller may drain at any time (the reconciler at each step, a live reader as output arrives): the store accepts
 * each byte once. A drain waits for live readers before it drops bytes that they have not read, but only for a bounded
 * time.
 */
import { Clock, Context, Duration, Effect, Layer, RcMap, Stream } from "effect"
import type { Scope } from "effect"
import { Signals } from "../database/Signals.ts"
import { Replica } from "../database/Replica.ts"
import { MachineProvider, type ProviderUnavailable } from "./MachineProvider.ts"
import { MachineSecrets } from "./MachineSecrets.ts"
import * as Mask from "./Mask.ts"
import { gapOf, LIMIT_BYTES, prunableRange } from "./OutputLimit.ts"
import { MAX_CHUNK_BYTES, OutputStore, type Source } from "./OutputStore.ts"

/**
 * Bytes beyond the 10 MB rule that are kept for slow readers. A higher value costs storage, a lower one makes drains
 * wait.
 */
const MAX_READER_LAG_BYTES = 16 * 1024 * 1024
/** Maximum time that one drain waits for slow readers, and the interval at which it checks their positions (ms). */
const MAX_READER_WAIT_MS = 10_000
const READER_POLL_MS = 100
/** Maximum time that a single read waits for new output to be stored (ms). */
const MAX_REFRESH_MS = 1_000
/** Pause before a broken stream is reopened (ms). */
const REOPEN_MS = 2_000

const NOTHING = new Uint8Array()

export class Outputs extends Context.Service<
  Outputs,
  {
    /**
     * Stores the output that the provider has now, from byte `position` of the store on. `final`: no output follows.
     * Returns the new end of the stored output.
     */
    readonly drain: (source: Source, position: number, final: boolean) => Effect.Effect<number, ProviderUnavailable>
    /**
     * Stores the output that the provider has now, for a single read. The provider is asked at most once a second for
     * one machine.
     */
    readonly refresh: (machineId: string) => Effect.Effect<void>
    /** Stores output as it arrives, while the scope is open. All readers of one machine share one stream. */
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

      /**
       * Drops the bytes that the 10 MB rule drops. If a live reader has not read them yet, waits for the reader until
       * `deadline`.
       */
      const trim = Effect.fnUntraced(function* (machineId: string, total: number, deadline: number) {
        if (total <= LIMIT_BYTES) return
        for (;;) {
          const slowest = yield* store.slowest(machineId)
          const range = prunableRange(total, slowest)
          if (range !== undefined) yield* store.prune(machineId, range.from, range.to)
          const lag = slowest === undefined ? 0 : total - slowest
          if (lag <= MAX_READER_LAG_BYTES) return
          if (clock.currentTimeMillisUnsafe() >= deadline) break
          yield* Effect.sleep(READER_POLL_MS * scale)
        }
        const gap = gapOf(total)
        if (gap !== undefined) yield* store.prune(machineId, gap.from, gap.to)
      })

      const drain = Effect.fnUntraced(function* (source: Source, position: number, final: boolean) {
        const deadline = clock.currentTimeMillisUnsafe() + MAX_READER_WAIT_MS * scale
        let end = position
        let needles: ReadonlyArray<Uint8Array> | undefined
        for (;;) {
          const output = yield* provider.read(source.id, end, MAX_CHUNK_BYTES)
          // Bytes that are stored already are skipped. Bytes after a hole wait until the hole is filled.
          const bytes = output.offset > end ? NOTHING : output.bytes.subarray(end - output.offset)
          if (bytes.length === 0) return end
          needles ??= Mask.needles(yield* secrets.values(source))
          // A full chunk is never the last one: its tail is masked again together with the next chunk.
          const isLast = final && output.bytes.length < MAX_CHUNK_BYTES
          const masked = Mask.mask(bytes, needles, isLast)
          if (masked.length === 0) return end
          const appended = yield* store.append(source.id, end, masked)
          end = appended ? end + masked.length : yield* store.total(source.id)
          signals.emit(`output:${source.id}`)
          yield* trim(source.id, end, deadline)
          // Fewer bytes than requested means that the provider has no more. New output is left to the next drain.
          if (appended && output.bytes.length < MAX_CHUNK_BYTES) return end
        }
      })

      /**
       * Stores output until the machine has ended and all is stored. A broken stream is reopened at the end of the
       * stored output.
       */
      const storeAll = (source: Source): Effect.Effect<void> =>
        Effect.flatMap(store.total(source.id), (from) =>
          Stream.runForEach(provider.follow(source.id, from), () =>
            Effect.flatMap(store.total(source.id), (end) => drain(source, end, false))
          )
        ).pipe(Effect.catchCause(() => Effect.andThen(Effect.sleep(REOPEN_MS * scale), storeAll(source))))

      const collectors = yield* RcMap.make({
        lookup: (machineId: string) =>
          Effect.gen(function* () {
            const source = yield* store.source(machineId)
            if (source !== undefined) yield* Effect.forkScoped(storeAll(source))
          }),
        idleTimeToLive: Duration.seconds(1)
      })

      const refreshes = yield* RcMap.make({
        lookup: (machineId: string) =>
          Effect.gen(function* () {
            const source = yield* store.source(machineId)
            if (source !== undefined) yield* drain(source, yield* store.total(machineId), false)
          }).pipe(Effect.timeoutOption(MAX_REFRESH_MS * scale), Effect.ignoreCause),
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
