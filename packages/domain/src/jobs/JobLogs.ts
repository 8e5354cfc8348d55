/**
 * The log of a job: the output of its command, by byte offset, while it runs and after it (decisions: Jobs, logs).
 *
 * A reader gets each byte once, in order. A reader that starts late skips the bytes that the 10 MB rule has dropped.
 * After its start it misses nothing, because its stored position keeps the bytes after it from being dropped.
 */
import { Clock, Context, Crypto, Effect, Layer, Queue, type Scope, Stream } from "effect"
import type { Principal } from "../access/Principal.ts"
import { Replica } from "../database/Replica.ts"
import { Signals } from "../database/Signals.ts"
import { chunkBefore, chunkFrom, gapOf, type Range } from "../machines/OutputLimit.ts"
import { Outputs } from "../machines/Outputs.ts"
import { OutputStore } from "../machines/OutputStore.ts"
import { isTerminal, type Job } from "./Job.ts"
import type { JobNotFound } from "./JobErrors.ts"
import { Jobs } from "./Jobs.ts"

/**
 * `next` is the offset of the byte after the event's bytes. A gap is the range `from` to `to`, which was dropped for
 * good.
 */
export type LogEvent =
  | { readonly _tag: "Log"; readonly next: number; readonly bytes: Uint8Array }
  | { readonly _tag: "Gap"; readonly from: number; readonly to: number }
  | { readonly _tag: "Status"; readonly job: Job }
  | { readonly _tag: "End"; readonly job: Job }

export interface LogOptions {
  /** Offset of the first byte to return. */
  readonly offset: number
  /** Return this many last lines of the stored output instead of starting at an offset. */
  readonly tail: number | undefined
  /** Continue until the job is terminal; otherwise end after the stored output. */
  readonly follow: boolean
}

/**
 * A live reader stores its position after this many bytes, and after this many poll intervals. Higher values keep more
 * dropped bytes in the store, lower ones cost writes.
 */
const REPORT_BYTES = 1024 * 1024
const REPORT_LOOKS = 5

interface Reader {
  readonly id: string
  position: number
  /** The position that was last stored, with its time; undefined for a reader that does not follow. */
  lastReport: { readonly position: number; readonly at: number } | undefined
  status: string | undefined
  isDone: boolean
}

export class JobLogs extends Context.Service<
  JobLogs,
  {
    /**
     * Returns the events of a log: `Status` at the start and at each change of a job that is not terminal, `End` as the
     * last event of a terminal job.
     */
    readonly events: (
      principal: Principal,
      id: string,
      options: LogOptions
    ) => Effect.Effect<Stream.Stream<LogEvent>, JobNotFound>
  }
>()("@sluice/domain/jobs/JobLogs") {
  static readonly layer = Layer.effect(
    JobLogs,
    Effect.gen(function* () {
      const jobs = yield* Jobs
      const store = yield* OutputStore
      const outputs = yield* Outputs
      const signals = yield* Signals
      const replica = yield* Replica
      const crypto = yield* Crypto.Crypto
      const clock = yield* Clock.Clock

      /**
       * Returns the offset of the last `lines` lines of the stored output. A last line without a line end counts as
       * one.
       */
      const startOfTail = Effect.fnUntraced(function* (machineId: string, lines: number) {
        const total = yield* store.total(machineId)
        const floor = gapOf(total)?.to ?? 0
        let missing = lines
        // Reads backwards in windows, and never across the gap.
        for (let to = total; to > floor;) {
          const start = Math.max(floor, to - TAIL_WINDOW_BYTES)
          const bytes = yield* window(machineId, start, to)
          for (let i = bytes.length - 1; i >= 0; i--) {
            if (bytes[i] === 0x0a && start + i !== total - 1 && --missing === 0) return start + i + 1
          }
          to = start
        }
        return lines === 0 ? total : floor
      })

      const window = Effect.fnUntraced(function* (machineId: string, start: number, to: number) {
        const bytes = new Uint8Array(to - start)
        for (let position = start; position < to;) {
          const chunks = yield* store.read(machineId, position)
          if (chunks.length === 0) break
          for (const chunk of chunks) {
            const part = chunkFrom(chunk, position)
            if (part === undefined || part.start !== position) continue
            bytes.set(part.bytes.subarray(0, to - position), position - start)
            position = Math.min(to, position + part.bytes.length)
          }
        }
        return bytes
      })

      /** Stores the reader's position: the bytes after it are not dropped from now on. */
      const report = Effect.fnUntraced(function* (machineId: string, reader: Reader) {
        const nowMs = clock.currentTimeMillisUnsafe()
        reader.lastReport = { position: reader.position, at: nowMs }
        yield* store.reading(machineId, reader.id, reader.position)
      })

      const reportIfDue = (machineId: string, reader: Reader) => {
        const previous = reader.lastReport
        if (previous === undefined) return Effect.void
        const hasMoved = reader.position - previous.position >= REPORT_BYTES
        const isOverdue = clock.currentTimeMillisUnsafe() - previous.at >= REPORT_LOOKS * replica.lookMs
        return hasMoved || isOverdue ? report(machineId, reader) : Effect.void
      }

      /**
       * Returns the stored events from the reader's position on; none at the end. `skip`: the range that was dropped
       * before the reader started.
       */
      const readMore = Effect.fnUntraced(function* (machineId: string, reader: Reader, skip: Range | undefined) {
        const events: Array<LogEvent> = []
        const pushLog = (bytes: Uint8Array) => {
          reader.position += bytes.length
          events.push({ _tag: "Log", next: reader.position, bytes })
        }
        const pushGap = (to: number) => {
          events.push({ _tag: "Gap", from: reader.position, to })
          reader.position = to
        }
        if (skip !== undefined && reader.position >= skip.from && reader.position < skip.to) pushGap(skip.to)
        for (const chunk of yield* store.read(machineId, reader.position)) {
          const part = chunkFrom(chunk, reader.position)
          if (part === undefined) continue
          // A hole: these bytes were dropped before the reader stored its position.
          if (part.start > reader.position) pushGap(part.start)
          const head = skip !== undefined && reader.position < skip.from ? chunkBefore(part, skip.from) : part
          if (head === undefined) break
          pushLog(head.bytes)
          if (head !== part) break
        }
        yield* reportIfDue(machineId, reader)
        return events
      })

      const follow = Effect.fnUntraced(function* (
        principal: Principal,
        job: Job,
        options: LogOptions
      ): Effect.fn.Return<Stream.Stream<LogEvent>, never, Scope.Scope> {
        const { machineId } = job
        const id = yield* Effect.orDie(crypto.randomUUIDv4())
        // Output that has no reader is stored only now and then, so a single read stores it first. A follower gets new
        // output anyway, but `tail` counts lines of the stored output.
        const isOnce = !options.follow || options.tail !== undefined
        if (isOnce && job.startedAt !== null && !isTerminal(job.status)) yield* outputs.refresh(machineId)
        const total = yield* store.total(machineId)
        const position = options.tail === undefined ? options.offset : yield* startOfTail(machineId, options.tail)
        const reader: Reader = { id, position, lastReport: undefined, status: undefined, isDone: false }
        const skip = gapOf(total)
        const changes = yield* Queue.sliding<void>(1)
        const wake = () => void Queue.offerUnsafe(changes, undefined)
        yield* signals.listen(`job:${job.id}`, wake)
        yield* signals.listen(`output:${machineId}`, wake)
        if (options.follow && !isTerminal(job.status)) {
          yield* Effect.addFinalizer(() => store.left(machineId, id))
          yield* report(machineId, reader)
          yield* outputs.collect(machineId)
        }

        const pull: Effect.Effect<ReadonlyArray<LogEvent>> = Effect.gen(function* () {
          for (;;) {
            if (reader.isDone) return []
            const current = yield* Effect.orDie(jobs.get(principal, job.id))
            const isEnded = isTerminal(current.status)
            // The machine's output may be stored before the job is seen running: the status event comes first.
            const logged = current.startedAt === null && !isEnded ? [] : yield* readMore(machineId, reader, skip)
            // The job was read before its log. If it was terminal then, its log is complete now, and its last status
            // follows the log.
            if (isEnded && logged.length > 0) return logged
            const status: Array<LogEvent> = current.status === reader.status ? [] : [{ _tag: "Status", job: current }]
            reader.status = current.status
            if (isEnded || (!options.follow && logged.length === 0)) {
              reader.isDone = true
              return isEnded ? [...status, { _tag: "End", job: current }] : status
            }
            if (status.length + logged.length > 0) return [...status, ...logged]
            yield* Effect.timeoutOption(Queue.take(changes), replica.lookMs)
          }
        })
        return Stream.unfold(undefined, () =>
          Effect.map(pull, (events) => (events.length === 0 ? undefined : ([events, undefined] as const)))
        ).pipe(Stream.flatMap(Stream.fromIterable))
      })

      const events = Effect.fn("JobLogs.events")(function* (principal: Principal, id: string, options: LogOptions) {
        const job = yield* jobs.get(principal, id)
        return Stream.unwrap(follow(principal, job, options))
      })

      return JobLogs.of({ events })
    })
  )
}

const TAIL_WINDOW_BYTES = 262_144
