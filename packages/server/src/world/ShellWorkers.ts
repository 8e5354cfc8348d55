/**
 * Runs the commands of simulated machines in threads, so that a hostile one blocks neither the event loop nor the others.
 *
 * Two lanes with a thread each. A run gets a short slice on the quick lane; one that needs more is broken off and begun
 * again on the slow lane, which is safe because a run has no effect but its timeline. There it gets a longer slice, and who
 * needs more than that waits until nobody else does: then it may take its time, up to a limit at which it is killed like a
 * process without memory. So short runs never wait for long ones, and those for one at most that would take for ever. The
 * queues hold one entry per machine whose timeline somebody waits for.
 */
import { killed, Shell } from "@sluice/machine-shell/Shell"
import type { ShellRun, Timeline } from "@sluice/machine-shell/Shell"
import { Effect, Layer } from "effect"
import { Worker } from "node:worker_threads"
import { after, inWallTime } from "../clock/WallTime.ts"
import type { Answer, READY } from "./ShellThread.ts"

export interface ShellLimits {
  /** Host time of a run on the quick lane. */
  readonly sliceMs: number
  /** Host time of a run that goes before those that need more. */
  readonly longSliceMs: number
  /** Host time after which a run is given up. */
  readonly limitMs: number
  /** Host time for which those wait for a run who will look again. */
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
            return Effect.sync(() => lanes.leave(task))
          }),
        patience: inWallTime(Effect.sleep(limits.patienceMs))
      }
    })
  )

export const layer = layerWith(defaultLimits)

interface Task {
  readonly run: ShellRun
  /** It goes after all others. */
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

  /** Nobody waits for it any more. */
  leave(task: Task): void {
    for (const queue of [this.#fresh, this.#long, this.#longest]) {
      const at = queue.indexOf(task)
      if (at >= 0) queue.splice(at, 1)
    }
    this.#quick.leave(task)
    this.#slow.leave(task)
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

/** One thread, begun with its first task, and what it works on. It is replaced when it was broken off or died. */
class Thread {
  #worker: Worker | undefined
  #task: Task | undefined
  #ready = false
  #ended = false
  #stopTimer = () => {}
  #limitMs = 0
  #late: (task: Task) => void = () => {}
  readonly #next: () => void

  constructor(next: () => void) {
    this.#next = next
  }

  get isIdle(): boolean {
    return this.#task === undefined && !this.#ended
  }

  /** `late`: what becomes of a run that needs more than `limitMs`. */
  start(task: Task, limitMs: number, late: (task: Task) => void): void {
    this.#task = task
    this.#limitMs = limitMs
    this.#late = late
    this.#worker ??= this.#spawn()
    this.#worker.postMessage(task.run)
    if (this.#ready) this.#limit()
  }

  /** The time of a run counts from when the thread can work on it. */
  #limit(): void {
    this.#stopTimer = after(this.#limitMs, () => {
      this.#worker = this.#spawn()
      this.#done(this.#late)
    })
  }

  /** A run that nobody waits for is broken off; the next one gets a new thread. */
  leave(task: Task): void {
    if (this.#task !== task) return
    void this.#worker?.terminate()
    this.#worker = undefined
    this.#done(() => {})
  }

  async end(): Promise<void> {
    this.#ended = true
    this.#stopTimer()
    await this.#worker?.terminate()
  }

  #done(how: (task: Task) => void): void {
    this.#stopTimer()
    const task = this.#task
    this.#task = undefined
    if (task !== undefined) how(task)
    if (!this.#ended) this.#next()
  }

  /** Makes the thread that takes the place of the one before. */
  #spawn(): Worker {
    void this.#worker?.terminate()
    this.#ready = false
    const worker = new Worker(new URL("./ShellThread.ts", import.meta.url), { env: {}, resourceLimits: RESOURCES })
    worker.unref()
    worker.on("message", (message: typeof READY | Answer) => {
      if (this.#worker !== worker) return
      if (message === "ready") {
        this.#ready = true
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
      if (this.#worker !== worker || this.#ended) return
      // Not at once: a thread that cannot even begin must not be begun in a circle.
      this.#worker = undefined
      this.#done((task) => task.finish(isOutOfMemory(cause) ? killedFor(task, "out of memory") : Effect.die(cause)))
    })
    return worker
  }
}

const killedFor = (task: Task, reason: string) => Effect.sync(() => killed(task.run, reason))

const isOutOfMemory = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && cause.code === "ERR_WORKER_OUT_OF_MEMORY"

const RESOURCES = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 64, stackSizeMb: 4 }
