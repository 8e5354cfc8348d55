/**
 * Sluice as a test double for other people's suites: the whole service over simulated machines and models, in this process,
 * on a port of its own, with a clock that the test moves.
 *
 * It promises: the same seed and the same requests, one after the other, give the same ids, words, logs, costs and times.
 */
import type { SluiceOptions } from "./SluiceOptions.ts"
import { Clock, type Duration, Effect, Exit, Scope } from "effect"
import { CALL_FAULTS, type CallFault, type Fault } from "@sluice/simulator/faults/Fault"
import { Process } from "@sluice/simulation/driver/Process"
import { checkStart, durationOf, refusal } from "./DoubleOptions.ts"
import { doubleServer, KEY } from "./DoubleServer.ts"
import { type FaultOptions, type OrderedFault, OrderedFaults } from "./Faults.ts"
import { LiveDriver } from "./LiveDriver.ts"

export interface Sluice {
  /** `http://127.0.0.1:PORT`; OpenAI clients take `${url}/v1` as their base URL. */
  readonly url: string
  /** A key of the workspace `default`, which has 100 USD and all scopes. */
  readonly key: string
  /** What time it is in the world. */
  readonly now: () => Date
  /** Lets so much time pass, with all that happens in it. Only on a virtual clock. */
  readonly advance: (duration: Duration.Input) => Promise<void>
  /** Lets calls of machines, models or the database go wrong; docs/testing.md lists how. */
  readonly fault: (name: CallFault, options?: FaultOptions) => OrderedFault
  readonly close: () => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

export { CALL_FAULTS as FAULTS, type CallFault as FaultName, type FaultOptions, type OrderedFault }

/** By then the service has tried again what a database refused, or told its caller that it failed. */
const RETRIED_MS = 2_000

const EPOCH = Date.UTC(2027, 0, 15)

export const startSluice = async (options: SluiceOptions = {}): Promise<Sluice> => {
  checkStart(options)
  const { clock = "virtual", latency = false, now: from = new Date(EPOCH), port = 0, programs = {}, seed = 1 } = options
  const driver = new LiveDriver()
  const process = new Process(driver, { name: "double", seed, epoch: from.getTime() })
  const virtual = clock === "virtual"
  const real = Clock.Clock.defaultValue()
  const now = () => (virtual ? process.wallMillis() : real.currentTimeMillisUnsafe())
  const struck = (fault: Fault) => {
    if (fault === "database_lost" || fault === "database_serialization") driver.retrying(RETRIED_MS)
  }
  const faults = new OrderedFaults({ seed, now, struck })
  const scope = Scope.makeUnsafe()
  const run = virtual ? Effect.runPromiseWith(process.context) : Effect.runPromise
  const server = doubleServer({ driver, process, virtual, latency, port, programs, seed, faults })
  const url = await run(Scope.provide(server, scope)).catch(async (error) => {
    await run(Scope.close(scope, Exit.void))
    throw error
  })
  let closing: Promise<void> | undefined
  const close = () =>
    (closing ??= (async () => {
      // What the end waits for passes by itself.
      const ended = driver.awaiting()
      await run(Scope.close(scope, Exit.void)).finally(ended)
      process.kill()
    })())
  const stillOpen = (call: string) => {
    if (closing !== undefined) throw refusal(call, "this double is closed")
  }
  return {
    url,
    key: KEY,
    now: () => new Date(now()),
    advance: async (duration) => {
      stillOpen("advance")
      const ms = durationOf(duration)
      if (!virtual) throw refusal("advance", 'only a virtual clock can be advanced: start with clock: "virtual"')
      await driver.advance(ms)
    },
    fault: (name, how) => {
      stillOpen("fault")
      if (!virtual && name === "database_slow") {
        throw refusal("fault", 'only a virtual clock can slow statements down: start with clock: "virtual"')
      }
      return faults.order(name, how)
    },
    close,
    [Symbol.asyncDispose]: close
  }
}
