/**
 * Work that would hold up the event loop, done one task after the other in a thread of its own: made when first needed,
 * replaced when it dies or when a task takes too long. The queue is bounded, and who stops waiting is not worked for.
 *
 * The thread's file answers each `{ id, task }` with an `Answer`.
 */
import { Data, Effect } from "effect"
import type { Scope } from "effect"
import { Worker } from "node:worker_threads"
import { after } from "../clock/WallTime.ts"

/** No answer: too many wait, it took too long, or it can't be done (`fault`, for logs). */
export class WorkUndone extends Data.TaggedError("WorkUndone")<{
  readonly reason: "busy" | "late" | "fault"
  readonly fault?: string
}> {}

export interface Limits {
  /** Host time of one task. */
  readonly limitMs: number
  /** Tasks that wait. */
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
          const waiting: Waiting<I, O> = { task, finish: resume, gone: false }
          thread.add(waiting)
          return Effect.sync(() => thread.leave(waiting))
        })
    })
  )

interface Waiting<I, O> {
  readonly task: I
  readonly finish: (answer: Effect.Effect<O, WorkUndone>) => void
  gone: boolean
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

  leave(waiting: Waiting<I, O>): void {
    waiting.gone = true
    const at = this.#queue.indexOf(waiting)
    if (at >= 0) this.#queue.splice(at, 1)
    // What it works on is of no use any more: a new thread costs less than an encoding that nobody waits for.
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
    if (waiting !== undefined && !waiting.gone) waiting.finish(answer)
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
    const died = (cause: unknown) => {
      if (this.#worker === worker) this.#replace(Effect.fail(new WorkUndone({ reason: "fault", fault: String(cause) })))
    }
    worker.on("error", died)
    worker.on("exit", (code) => died(`the thread ended with code ${code}`))
    return worker
  }
}
