/**
 * One incarnation of a process: its clock, scheduler, chance and ids. Killed, it is frozen between two operations: no
 * finalizer runs, its timers never ring, and the world and the database live on.
 */
import { SteadyClock } from "@sluice/server/clock/SteadyClock"
import { IdOrder } from "@sluice/server/crypto/IdOrder"
import { Clock, Context, Crypto, Duration, Effect, Random, Scheduler } from "effect"
import { createHash } from "node:crypto"
import { chance } from "@sluice/machine-shell/Chance"
import type { Driver } from "./Driver.ts"

/** Random bytes of an id, and at which of them its digits begin. */
const ID_BYTES = 16
const DIGITS_AT = 8

export class Process {
  readonly name: string
  dead = false
  /** Whether it has started up. */
  serving = false
  /** How far this process's wall clock is off, ms. */
  clockOff = 0
  private operations = 0
  private killAt = Number.POSITIVE_INFINITY
  private readonly onKill = new Set<() => void>()
  private readonly driver: Driver
  private readonly epoch: number
  /** What every fiber of the process runs with. */
  readonly context: Context.Context<never>
  readonly crypto: Crypto.Crypto
  readonly clock: Clock.Clock
  /** The clock of the world around it, which never jumps. */
  readonly trueClock: Clock.Clock
  readonly alive = () => !this.dead

  constructor(driver: Driver, options: { readonly name: string; readonly seed: number; readonly epoch: number }) {
    this.driver = driver
    this.name = options.name
    this.epoch = options.epoch
    this.clock = clockOf(driver, this, () => this.wallMillis())
    this.trueClock = clockOf(driver, this, () => this.wallMillis() - this.clockOff)
    const bytes = bytesOf(options.seed, options.name)
    const made = Crypto.make({
      randomBytes: bytes,
      digest: (algorithm, data) =>
        Effect.sync(() => new Uint8Array(createHash(algorithm.replace("-", "").toLowerCase()).update(data).digest()))
    })
    const order = new IdOrder()
    const ordered = Effect.clockWith((clock) =>
      Effect.sync(() => order.next(clock.currentTimeMillisUnsafe(), digitsOf(bytes(ID_BYTES))))
    )
    // As in a real process.
    this.crypto = { ...made, randomUUIDv7: (() => ordered) as Crypto.Crypto["randomUUIDv7"] }
    const doubles = () => new DataView(bytes(8).buffer).getUint32(0) / 2 ** 32
    this.context = Context.empty().pipe(
      Context.add(Clock.Clock, this.clock),
      Context.add(Scheduler.Scheduler, this.scheduler()),
      Context.add(Random.Random, {
        nextDoubleUnsafe: doubles,
        nextIntUnsafe: () => Math.floor(doubles() * 2 ** 31)
      })
    )
  }

  wallMillis(): number {
    return this.epoch + Math.floor(this.driver.now) + this.clockOff
  }

  /** Calls back when the process is killed; at once when it is dead. Answers how to take that back. */
  whenKilled(callback: () => void): () => void {
    if (this.dead) callback()
    else this.onKill.add(callback)
    return () => this.onKill.delete(callback)
  }

  kill(): void {
    if (this.dead) return
    this.dead = true
    for (const callback of this.onKill) callback()
    this.onKill.clear()
  }

  /** Kills it in the middle of what it does, so many operations from now. */
  killAfter(operations: number): void {
    this.killAt = this.operations + operations
  }

  private scheduler(): Scheduler.Scheduler {
    const dispatcher: Scheduler.SchedulerDispatcher = {
      scheduleTask: (task) => this.driver.enqueue(() => (this.dead ? undefined : task())),
      flush: () => {}
    }
    return {
      executionMode: "async",
      makeDispatcher: () => dispatcher,
      // Asked before every operation; a dead process's fiber yields to a dispatcher that drops it.
      shouldYield: (fiber) => {
        if (!this.dead && ++this.operations >= this.killAt) this.kill()
        return this.dead || fiber.currentOpCount >= fiber.cache.maxOpsBeforeYield
      }
    }
  }
}

const clockOf = (driver: Driver, process: Process, millis: () => number): Clock.Clock => {
  const nanos = () => BigInt(Math.round(driver.now * 1_000_000))
  // As in a real process.
  return new SteadyClock({
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: () => BigInt(millis()) * 1_000_000n,
    currentTimeNanos: Effect.sync(() => BigInt(millis()) * 1_000_000n),
    monotonicTimeNanosUnsafe: nanos,
    monotonicTimeNanos: Effect.sync(nanos),
    sleep: (duration) => {
      const ms = Duration.toMillis(duration)
      if (ms <= 0) return Effect.yieldNow
      if (!Number.isFinite(ms)) return Effect.never
      return Effect.callback<void>((resume) => {
        const timer = driver.after(ms, () => resume(Effect.void), process.alive)
        return Effect.sync(() => {
          timer.fire = undefined
        })
      })
    }
  })
}

/** A stream of bytes that follows from the seed and the process's name. */
const bytesOf = (seed: number, name: string) => {
  const noise = chance(seed)
  let block = 0
  return (size: number): Uint8Array => {
    const bytes = new Uint8Array(size)
    for (let i = 0; i < size; i += 4) {
      let word = Math.floor(noise.draw(`bytes/${name}/${block++}`) * 2 ** 32)
      for (let j = i; j < i + 4 && j < size; j++, word >>>= 8) bytes[j] = word & 0xff
    }
    return bytes
  }
}

const digitsOf = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, DIGITS_AT).toString("hex")
