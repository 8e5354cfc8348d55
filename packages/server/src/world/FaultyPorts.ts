/** The ports of the simulated world, struck by the faults of a scenario. Each strike is a line of the log. */
import { ModelProvider } from "@sluice/domain/models/ModelProvider"
import { MachineProvider } from "@sluice/domain/machines/MachineProvider"
import { chance } from "@sluice/machine-shell/Chance"
import type { FaultRates } from "@sluice/simulator/faults/Fault"
import { FaultDraw } from "@sluice/simulator/faults/FaultDraw"
import { type WorldFaults, worldFaults } from "@sluice/simulator/faults/WorldFaults"
import { Shell } from "@sluice/machine-shell/Shell"
import { Clock, Context, Effect, Layer } from "effect"

class Struck extends Context.Service<Struck, WorldFaults>()("@sluice/server/simulation/Struck") {}

const struckBy = (seed: number, rates: FaultRates) =>
  Layer.effect(
    Struck,
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const fork = Effect.runForkWith(yield* Effect.context<never>())
      const strikes = new FaultDraw({
        chance: chance(seed),
        rates,
        now: () => clock.currentTimeMillisUnsafe(),
        report: ({ fault, subject }) => {
          fork(Effect.annotateLogs(Effect.logInfo("A fault of the scenario struck"), { fault, subject }))
        }
      })
      return worldFaults(seed, rates, strikes)
    })
  )

/** What wraps the layers of a world: the same faults strike all three. Without a fault they stay as they are. */
export const faultyPorts = (seed: number, rates: FaultRates) => {
  const calm = Object.values(rates).every((rate) => rate === 0)
  const struck = struckBy(seed, rates)
  const wrap =
    <I, S>(port: Context.Key<I, S>, faulty: (faults: WorldFaults) => (inner: S) => S) =>
    <E, R>(inner: Layer.Layer<I, E, R>): Layer.Layer<I, E, R> =>
      calm
        ? inner
        : Layer.effect(
            port,
            Effect.zipWith(Struck, port, (faults, service) => faulty(faults)(service))
          ).pipe(Layer.provide(inner), Layer.provide(struck))
  return {
    machines: wrap(MachineProvider, ({ machines }) => machines),
    models: wrap(ModelProvider, ({ models }) => models),
    shell: wrap(Shell, ({ shell }) => shell)
  }
}
