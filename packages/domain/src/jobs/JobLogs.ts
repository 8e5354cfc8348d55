/**
 * The log of a job: what its command wrote, by byte offset, while it runs and ever after (decisions: Jobs, logs).
 *
 * A reader gets each byte once, in order. Joining late it skips what the 10 MB rule has dropped by then; from there on it
 * misses nothing, because its stored position keeps bytes back that the rule would drop.
 */
import { Clock, Context, Crypto, Effect, Layer, Queue, type Scope, Stream } from "effect"
import type { Principal } from "../access/Principal.ts"
import { Replica } from "../database/Replica.ts"
import { Signals } from "../database/Signals.ts"
import { before, from, gapOf, type Range } from "../machines/OutputLimit.ts"
import { Outputs } from "../machines/Outputs.ts"
import { OutputStore } from "../machines/OutputStore.ts"
import { isTerminal, type Job } from "./Job.ts"
import type { JobNotFound } from "./JobErrors.ts"
import { Jobs } from "./Jobs.ts"

/** `next` is the offset of the byte after; a gap was dropped for good from `from` to `to`. */
export type LogEvent =
  | { readonly _tag: "Log"; readonly next: number; readonly bytes: Uint8Array }
  | { readonly _tag: "Gap"; readonly from: number; readonly to: number }
  | { readonly _tag: "Status"; readonly job: Job }
  | { readonly _tag: "End"; readonly job: Job }

export interface LogOptions {
  /** The first byte wanted. */
  readonly offset: number
  /** Instead of an offset: so many last lines of what there is. */
  readonly tail: number | undefined
  /** Goes on until the job is terminal; otherwise ends when what there is was given. */
  readonly follow: boolean
}

/** A live reader says where it is each time it has moved so far, and every so many looks. */
const REPORT_BYTES = 1024 * 1024
const REPORT_LOOKS = 5

interface Reader {
  readonly id: string
  position: number
  /** Where it last said it is, and when; a reader that does not follow says nothing. */
  reported: { readonly position: number; readonly at: number } | undefined
  status: string | undefined
  done: boolean
}

export class JobLogs extends Context.Service<
  JobLogs,
  {
    /** `Status` at the start of a job that is not terminal and at each change, `End` last where it is. */
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

      /** The start of the last `lines` lines of what is stored. A last line without an end counts as one. */
      const startOfTail = Effect.fnUntraced(function* (machineId: string, lines: number) {
        const total = yield* store.total(machineId)
        const floor = gapOf(total)?.to ?? 0
        let missing = lines
        // Backwards in windows; the gap is never crossed.
        for (let to = total; to > floor;) {
          const at = Math.max(floor, to - TAIL_WINDOW_BYTES)
          const bytes = yield* window(machineId, at, to)
          for (let i = bytes.length - 1; i >= 0; i--) {
            if (bytes[i] === 0x0a && at + i !== total - 1 && --missing === 0) return at + i + 1
          }
          to = at
        }
        return lines === 0 ? total : floor
      })

      const window = Effect.fnUntraced(function* (machineId: string, at: number, to: number) {
        const bytes = new Uint8Array(to - at)
        for (let position = at; position < to;) {
          const chunks = yield* store.read(machineId, position)
          if (chunks.length === 0) break
          for (const chunk of chunks) {
            const part = from(chunk, position)
            if (part === undefined || part.start !== position) continue
            bytes.set(part.bytes.subarray(0, to - position), position - at)
            position = Math.min(to, position + part.bytes.length)
          }
        }
        return bytes
      })

      /** From here on nothing is dropped that this reader has not had. */
      const report = Effect.fnUntraced(function* (machineId: string, reader: Reader) {
        const at = clock.currentTimeMillisUnsafe()
        reader.reported = { position: reader.position, at }
        yield* store.reading(machineId, reader.id, reader.position)
      })

      const reportIfDue = (machineId: string, reader: Reader) => {
        const last = reader.reported
        if (last === undefined) return Effect.void
        const moved = reader.position - last.position >= REPORT_BYTES
        const silent = clock.currentTimeMillisUnsafe() - last.at >= REPORT_LOOKS * replica.lookMs
        return moved || silent ? report(machineId, reader) : Effect.void
      }

      /** What is stored from the reader's position on; none when it has all. `skip` was dropped before it came. */
      const more = Effect.fnUntraced(function* (machineId: string, reader: Reader, skip: Range | undefined) {
        const events: Array<LogEvent> = []
        const give = (bytes: Uint8Array) => {
          reader.position += bytes.length
          events.push({ _tag: "Log", next: reader.position, bytes })
        }
        const jump = (to: number) => {
          events.push({ _tag: "Gap", from: reader.position, to })
          reader.position = to
        }
        if (skip !== undefined && reader.position >= skip.from && reader.position < skip.to) jump(skip.to)
        for (const chunk of yield* store.read(machineId, reader.position)) {
          const part = from(chunk, reader.position)
          if (part === undefined) continue
          // A hole: the rule dropped it before this reader could say where it is.
          if (part.start > reader.position) jump(part.start)
          const head = skip !== undefined && reader.position < skip.from ? before(part, skip.from) : part
          if (head === undefined) break
          give(head.bytes)
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
        // What nobody reads is stored now and then only. A follower gets it as it comes, but its tail counts from what there is.
        const isOnce = !options.follow || options.tail !== undefined
        if (isOnce && job.startedAt !== null && !isTerminal(job.status)) yield* outputs.refresh(machineId)
        const total = yield* store.total(machineId)
        const position = options.tail === undefined ? options.offset : yield* startOfTail(machineId, options.tail)
        const reader: Reader = { id, position, reported: undefined, status: undefined, done: false }
        const skip = gapOf(total)
        const news = yield* Queue.sliding<void>(1)
        const wake = () => void Queue.offerUnsafe(news, undefined)
        yield* signals.listen(`job:${job.id}`, wake)
        yield* signals.listen(`output:${machineId}`, wake)
        if (options.follow && !isTerminal(job.status)) {
          yield* Effect.addFinalizer(() => store.left(machineId, id))
          yield* report(machineId, reader)
          yield* outputs.collect(machineId)
        }

        const pull: Effect.Effect<ReadonlyArray<LogEvent>> = Effect.gen(function* () {
          for (;;) {
            if (reader.done) return []
            const now = yield* Effect.orDie(jobs.get(principal, job.id))
            const ended = isTerminal(now.status)
            // A machine's output may be there before its job is known to run: the start is told first.
            const logged = now.startedAt === null && !ended ? [] : yield* more(machineId, reader, skip)
            // The job was read before its log: terminal then, its log is complete now, and its last status comes after it.
            if (ended && logged.length > 0) return logged
            const status: Array<LogEvent> = now.status === reader.status ? [] : [{ _tag: "Status", job: now }]
            reader.status = now.status
            if (ended || (!options.follow && logged.length === 0)) {
              reader.done = true
              return ended ? [...status, { _tag: "End", job: now }] : status
            }
            if (status.length + logged.length > 0) return [...status, ...logged]
            yield* Effect.timeoutOption(Queue.take(news), replica.lookMs)
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
