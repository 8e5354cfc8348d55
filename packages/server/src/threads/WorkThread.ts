/**
 * Runs tasks that would block the event loop in a worker thread, one after the other. The thread is created on first
 * use and replaced when it dies or when a task exceeds its time. The queue is bounded, and abandoned tasks are dropped
 * or stopped.
 *
 * The thread's file answers each `{ id, task }` with an `Answer`.
 */
import { Effect, Schema } from "effect"
import type { Scope } from "effect"
import { Worker } from "node:worker_threads"
import { after } from "../clock/WallTime.ts"

/** The task failed: the queue is full, the task took too long, or the thread reported an error (`fault`, for logs). */
export class WorkUndone extends Schema.TaggedError<WorkUndone>()("WorkUndone", {
  reason: Schema.Literals(["busy", "late", "fault"]),
  fault: Schema.optionalKey(Schema.String)
}) {}

export interface Limits {
  /** Milliseconds of host time for one task. */
  readonly limitMs: number
  /** Tasks that wait in the queue. */
  readonly maxWaiting: number
  readonly maxMemoryMb: number
}

export interface Answer<O> {
  readonly id: number
  readonly value?: O
  readonly fault?: string
}

export interface WorkThread<I, O> {
  readonly run: (task: I) => Effect.Effect<O, WorkUndone>
}

export const makeWorkThread = <I, O>(file: URL, limits: Limits): Effect.Effect<WorkThread<I, O>, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => new Thread<I, O>(file, limits)),
      (thread) => Effect.promise(() => thread.end())
    ),
    (thread) => ({
      run: (task) =>
        Effect.callback<O, WorkUndone>((resume) => {
          const waiting: Waiting<I, O> = { task, finish: resume, isAbandoned: false }
          thread.add(waiting)
          return Effect.sync(() => thread.abandon(waiting))
        })
    })
  )

interface Waiting<I, O> {
  readonly task: I
  readonly finish: (answer: Effect.Effect<O, WorkUndone>) => void
  isAbandoned: boolean
}

class Thread<I, O> {
  readonly #file: URL
  readonly #limits: Limits
  readonly #queue: Array<Waiting<I, O>> = []
  #worker: Worker | undefined
  #current: Waiting<I, O> | undefined
  #lastId = 0
  #stopTimer = () => {}

  constructor(file: URL, limits: Limits) {
    this.#file = file
    this.#limits = limits
  }

  add(waiting: Waiting<I, O>): void {
    if (this.#queue.length >= this.#limits.maxWaiting) {
      return waiting.finish(Effect.fail(new WorkUndone({ reason: "busy" })))
    }
    this.#queue.push(waiting)
    this.#next()
  }

  abandon(waiting: Waiting<I, O>): void {
    waiting.isAbandoned = true
    const at = this.#queue.indexOf(waiting)
    if (at >= 0) this.#queue.splice(at, 1)
    // The running task is abandoned. A new thread costs less than an encoding whose result is not used.
    if (this.#current === waiting) this.#replace(Effect.fail(new WorkUndone({ reason: "late" })))
  }

  async end(): Promise<void> {
    this.#stopTimer()
    const worker = this.#worker
    this.#worker = undefined
    await worker?.terminate()
  }

  #next(): void {
    if (this.#current !== undefined) return
    const waiting = this.#queue.shift()
    if (waiting === undefined) return
    this.#current = waiting
    this.#worker ??= this.#spawn()
    this.#worker.postMessage({ id: ++this.#lastId, task: waiting.task })
    this.#stopTimer = after(this.#limits.limitMs, () => this.#replace(Effect.fail(new WorkUndone({ reason: "late" }))))
  }

  #done(answer: Effect.Effect<O, WorkUndone>): void {
    this.#stopTimer()
    const waiting = this.#current
    this.#current = undefined
    if (waiting !== undefined && !waiting.isAbandoned) waiting.finish(answer)
    this.#next()
  }

  #replace(answer: Effect.Effect<O, WorkUndone>): void {
    const worker = this.#worker
    this.#worker = undefined
    void worker?.terminate()
    this.#done(answer)
  }

  #spawn(): Worker {
    const resourceLimits = { maxOldGenerationSizeMb: this.#limits.maxMemoryMb }
    const worker = new Worker(this.#file, { env: {}, resourceLimits })
    worker.unref()
    worker.on("message", ({ fault, id, value }: Answer<O>) => {
      if (this.#worker !== worker || id !== this.#lastId) return
      this.#done(
        fault === undefined ? Effect.succeed(value as O) : Effect.fail(new WorkUndone({ reason: "fault", fault }))
      )
    })
    const onDeath = (cause: unknown) => {
      if (this.#worker === worker) this.#replace(Effect.fail(new WorkUndone({ reason: "fault", fault: String(cause) })))
    }
    worker.on("error", onDeath)
    worker.on("exit", (code) => onDeath(`the thread ended with code ${code}`))
    return worker
  }
}
