/**
 * Time and chance for code that asks the runtime and not a service: drivers, the shell's commands. In a run they see the virtual
 * clock and seeded chance; our own code never asks them.
 *
 * The globals are virtual for the run alone, which `AsyncLocalStorage` follows. Other code of the process keeps the machine's clock and
 * timers, and so does the database, which outlives the run: PostgreSQL sets a timer again for the time that is left by its clock, which
 * after a virtual date is weeks.
 */
import { chance } from "@sluice/machine-shell/Chance"
import { AsyncLocalStorage } from "node:async_hooks"
import type { Driver } from "./Driver.ts"

/** Replaces the globals until `restore`. They are virtual for what `within` runs, and for what that starts. */
export const virtualGlobals = (
  driver: Driver,
  options: {
    readonly seed: number
    readonly epoch: number
    /** Whether the database runs just now, which has the machine's own clock and timers; and how to run what they call. */
    readonly isReal: () => boolean
    readonly asReal: <A>(act: () => A) => A
  }
) => {
  const { Date: RealDate, setInterval, clearInterval, setTimeout, clearTimeout } = globalThis
  const realRandom = Math.random
  const run = new AsyncLocalStorage<true>()
  const isOutside = () => run.getStore() === undefined
  const now = () => (isOutside() || options.isReal() ? RealDate.now() : options.epoch + Math.floor(driver.now))
  const noise = chance(options.seed)
  let draws = 0

  class VirtualDate extends RealDate {
    constructor(...given: ReadonlyArray<never>) {
      if (given.length === 0) super(now())
      else super(...(given as unknown as [number]))
    }
    static override now(): number {
      return now()
    }
  }

  const later = (ms: number | undefined, act: () => void) => driver.after(Math.max(1, ms ?? 1), act)
  const timeout = (act: (...args: ReadonlyArray<unknown>) => void, ms?: number, ...args: ReadonlyArray<unknown>) => {
    if (isOutside()) return setTimeout(act, ms, ...args)
    return options.isReal()
      ? setTimeout(() => options.asReal(() => act(...args)), ms)
      : new Handle(later(ms, () => act(...args)))
  }
  const interval = (act: (...args: ReadonlyArray<unknown>) => void, ms?: number, ...args: ReadonlyArray<unknown>) => {
    if (isOutside()) return setInterval(act, ms, ...args)
    if (options.isReal()) return setInterval(() => options.asReal(() => act(...args)), ms)
    const handle = new Handle(later(ms, () => tick()))
    const tick = () => {
      handle.timer = later(ms, tick)
      act(...args)
    }
    return handle
  }
  const clear = (handle: unknown) => {
    if (handle instanceof Handle) handle.timer.fire = undefined
    else clearTimeout(handle as number)
  }

  Object.assign(globalThis, {
    Date: VirtualDate,
    setTimeout: timeout,
    setInterval: interval,
    clearTimeout: clear,
    clearInterval: clear
  })
  Math.random = () => (isOutside() ? realRandom() : noise.draw(`Math.random/${draws++}`))
  return {
    within: <A>(act: () => A): A => run.run(true, act),
    restore: () => {
      Object.assign(globalThis, { Date: RealDate, setTimeout, setInterval, clearTimeout, clearInterval })
      Math.random = realRandom
    }
  }
}

class Handle {
  timer: ReturnType<Driver["after"]>
  constructor(timer: ReturnType<Driver["after"]>) {
    this.timer = timer
  }
  ref() {
    return this
  }
  unref() {
    return this
  }
  hasRef() {
    return false
  }
  refresh() {
    return this
  }
}
