/**
 * Runs the commands of simulated machines in threads, so that a hostile command does not block the event loop or other
 * commands.
 *
 * There are two lanes with one thread each. A run gets a short time slice on the quick lane. A run that needs more is
 * aborted and restarted on the slow lane with a longer slice, which is safe because its only effect is its timeline. A
 * run that needs even more waits until no other run waits; then it runs up to a limit, at which it is killed like a
 * process without memory. So short runs never wait for long ones, and long runs wait for at most one endless run. The
 * queues hold one entry per machine whose timeline is awaited.
 */
import { killedTimeline, Shell } from "@sluice/machine-shell/Shell"
import type { ShellRun, Timeline } from "@sluice/machine-shell/Shell"
import { Effect, Layer } from "effect"
import { Worker } from "node:worker_threads"
import { after, inWallTime } from "../clock/WallTime.ts"
import type { Answer, READY } from "./ShellThread.ts"

export interface ShellLimits {
  /** Milliseconds of host time for a run on the quick lane. */
  readonly sliceMs: number
  /** Milliseconds of host time for a run on the slow lane before it is deferred behind all others. */
  readonly longSliceMs: number
  /** Milliseconds of host time after which a run is killed. */
  readonly limitMs: number
  /** Milliseconds of host time that a caller waits for a run before it polls again later. */
  readonly patienceMs: number
}
export const defaultLimits: ShellLimits = { sliceMs: 1_000, longSliceMs: 5_000, limitMs: 30_000, patienceMs: 2_000 }

export const layerWith = (limits: ShellLimits): Layer.Layer<Shell> =>
  Layer.effect(
    Shell,
    Effect.gen(function* () {
      const lanes = yield* Effect.acquireRelease(
        Effect.sync(() => new Lanes(limits)),
        (lanes) => Effect.promise(() => lanes.end())
      )
      return {
        run: (run, slow = () => {}) =>
          Effect.callback<Timeline>((resume) => {
            const task: Task = { run, slow, finish: resume }
            lanes.add(task)
            return Effect.sync(() => lanes.abandon(task))
          }),
        patience: inWallTime(Effect.sleep(limits.patienceMs))
      }
    })
  )

export const layer = layerWith(defaultLimits)

interface Task {
  readonly run: ShellRun
  /** Called when the run is deferred behind all others. */
  readonly slow: () => void
  readonly finish: (timeline: Effect.Effect<Timeline>) => void
}

class Lanes {
  readonly #fresh: Array<Task> = []
  readonly #long: Array<Task> = []
  readonly #longest: Array<Task> = []
  readonly #limits: ShellLimits
  readonly #quick: Thread
  readonly #slow: Thread

  constructor(limits: ShellLimits) {
    this.#limits = limits
    this.#quick = new Thread(() => this.#next())
    this.#slow = new Thread(() => this.#next())
  }

  add(task: Task): void {
    this.#fresh.push(task)
    this.#next()
  }

  /** Drops a run whose caller does not wait any more. */
  abandon(task: Task): void {
    for (const queue of [this.#fresh, this.#long, this.#longest]) {
      const at = queue.indexOf(task)
      if (at >= 0) queue.splice(at, 1)
    }
    this.#quick.abandon(task)
    this.#slow.abandon(task)
  }

  async end(): Promise<void> {
    await Promise.all([this.#quick.end(), this.#slow.end()])
  }

  #next(): void {
    const { limitMs, longSliceMs, sliceMs } = this.#limits
    this.#give(this.#quick, this.#fresh, sliceMs, (task) => this.#long.push(task))
    this.#give(this.#slow, this.#long, longSliceMs, (task) => this.#defer(task))
    this.#give(this.#slow, this.#fresh, longSliceMs, (task) => this.#defer(task))
    this.#give(this.#slow, this.#longest, limitMs, (task) => task.finish(killedFor(task, "out of time")))
  }

  #defer(task: Task): void {
    this.#longest.push(task)
    task.slow()
  }

  #give(thread: Thread, queue: Array<Task>, limitMs: number, late: (task: Task) => void): void {
    while (thread.isIdle) {
      const task = queue.shift()
      if (task === undefined) return
      thread.start(task, limitMs, late)
    }
  }
}

/** A thread, created with its first task, and its current task. It is replaced after an abort or a crash. */
class Thread {
  #worker: Worker | undefined
  #task: Task | undefined
  #isReady = false
  #isEnded = false
  #stopTimer = () => {}
  #limitMs = 0
  #late: (task: Task) => void = () => {}
  readonly #next: () => void

  constructor(next: () => void) {
    this.#next = next
  }

  get isIdle(): boolean {
    return this.#task === undefined && !this.#isEnded
  }

  /** `late`: handles a run that needs more than `limitMs`. */
  start(task: Task, limitMs: number, late: (task: Task) => void): void {
    this.#task = task
    this.#limitMs = limitMs
    this.#late = late
    this.#worker ??= this.#spawn()
    this.#worker.postMessage(task.run)
    if (this.#isReady) this.#limit()
  }

  /** A run's time counts from the moment at which the thread can work on it. */
  #limit(): void {
    this.#stopTimer = after(this.#limitMs, () => {
      this.#worker = this.#spawn()
      this.#done(this.#late)
    })
  }

  /** Aborts a run that is not awaited any more; the next run gets a new thread. */
  abandon(task: Task): void {
    if (this.#task !== task) return
    void this.#worker?.terminate()
    this.#worker = undefined
    this.#done(() => {})
  }

  async end(): Promise<void> {
    this.#isEnded = true
    this.#stopTimer()
    await this.#worker?.terminate()
  }

  #done(how: (task: Task) => void): void {
    this.#stopTimer()
    const task = this.#task
    this.#task = undefined
    if (task !== undefined) how(task)
    if (!this.#isEnded) this.#next()
  }

  /** Creates a thread in place of the previous one. */
  #spawn(): Worker {
    void this.#worker?.terminate()
    this.#isReady = false
    const worker = new Worker(new URL("./ShellThread.ts", import.meta.url), { env: {}, resourceLimits: RESOURCES })
    worker.unref()
    worker.on("message", (message: typeof READY | Answer) => {
      if (this.#worker !== worker) return
      if (message === "ready") {
        this.#isReady = true
        if (this.#task !== undefined) this.#limit()
        return
      }
      const { timeline, fault } = message
      this.#done((task) =>
        task.finish(timeline === undefined ? Effect.die(new Error(fault)) : Effect.succeed(timeline))
      )
    })
    let cause: unknown
    worker.on("error", (error) => {
      cause = error
    })
    worker.on("exit", () => {
      if (this.#worker !== worker || this.#isEnded) return
      // Not replaced at once: a thread that fails to start would be restarted in a loop.
      this.#worker = undefined
      this.#done((task) => task.finish(isOutOfMemory(cause) ? killedFor(task, "out of memory") : Effect.die(cause)))
    })
    return worker
  }
}

const killedFor = (task: Task, reason: string) => Effect.sync(() => killedTimeline(task.run, reason))

const isOutOfMemory = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && cause.code === "ERR_WORKER_OUT_OF_MEMORY"

const RESOURCES = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 64, stackSizeMb: 4 }
