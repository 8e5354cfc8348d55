/** Wraps the ports of the simulated world with the faults of a scenario. Each injected fault is logged. */
import { ModelProvider } from "@sluice/domain/models/ModelProvider"
import { MachineProvider } from "@sluice/domain/machines/MachineProvider"
import { chance } from "@sluice/machine-shell/Chance"
import type { FaultRates } from "@sluice/simulator/faults/Fault"
import { FaultDraw } from "@sluice/simulator/faults/FaultDraw"
import { type WorldFaults, worldFaults } from "@sluice/simulator/faults/WorldFaults"
import { Shell } from "@sluice/machine-shell/Shell"
import { Clock, Context, Effect, Layer } from "effect"

class ScenarioFaults extends Context.Service<ScenarioFaults, WorldFaults>()("@sluice/server/simulation/Struck") {}

const makeFaults = (seed: number, rates: FaultRates) =>
  Layer.effect(
    ScenarioFaults,
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const fork = Effect.runForkWith(yield* Effect.context<never>())
      const faultDraw = new FaultDraw({
        chance: chance(seed),
        rates,
        now: () => clock.currentTimeMillisUnsafe(),
        report: ({ fault, subject }) => {
          fork(Effect.annotateLogs(Effect.logInfo("A scenario fault was injected"), { fault, subject }))
        }
      })
      return worldFaults(seed, rates, faultDraw)
    })
  )

/**
 * Returns wrappers for the layers of a world, which share one source of faults. Without fault rates the layers are
 * unchanged.
 */
export const faultyPorts = (seed: number, rates: FaultRates) => {
  const isCalm = Object.values(rates).every((rate) => rate === 0)
  const scenarioFaults = makeFaults(seed, rates)
  const wrap =
    <I, S>(port: Context.Key<I, S>, faulty: (faults: WorldFaults) => (inner: S) => S) =>
    <E, R>(inner: Layer.Layer<I, E, R>): Layer.Layer<I, E, R> =>
      isCalm
        ? inner
        : Layer.effect(
            port,
            Effect.zipWith(ScenarioFaults, port, (faults, service) => faulty(faults)(service))
          ).pipe(Layer.provide(inner), Layer.provide(scenarioFaults))
  return {
    machines: wrap(MachineProvider, ({ machines }) => machines),
    models: wrap(ModelProvider, ({ models }) => models),
    shell: wrap(Shell, ({ shell }) => shell)
  }
}
