/** What surrounds the servers of a run: the simulated world and models behind their faults, and the gate of the database. */
import type { VideoProvider } from "@sluice/domain/models/MediaProvider"
import { ModelProvider, type ModelProviderService } from "@sluice/domain/models/ModelProvider"
import { Tokens } from "@sluice/domain/models/Tokens"
import { MachineProvider, type MachineProviderService } from "@sluice/domain/machines/MachineProvider"
import { makeTokenizer } from "@sluice/server/tokens/Tokenizer"
import { defaultWorld as defaultModels } from "@sluice/simulator/models/ModelWorld"
import * as SimulatedModels from "@sluice/simulator/models/SimulatedModels"
import { Shell } from "@sluice/machine-shell/Shell"
import * as SimulatedMachines from "@sluice/simulator/world/SimulatedMachines"
import { Clock, Effect, Layer, Redacted } from "effect"
import { faultyGate } from "../database/FaultyWire.ts"
import type { Rewrite } from "../database/Rewrite.ts"
import type { SharedDatabase } from "../database/SharedDatabase.ts"
import type { Chance } from "@sluice/machine-shell/Chance"
import type { Driver } from "../driver/Driver.ts"
import type { History } from "../driver/History.ts"
import type { Process } from "../driver/Process.ts"
import { DatabaseFaults } from "../faults/DatabaseFaults.ts"
import type { AppliedFault } from "@sluice/simulator/faults/Fault"
import { faultyMachines } from "@sluice/simulator/faults/FaultyMachines"
import { faultyModels } from "@sluice/simulator/faults/FaultyModels"
import { FaultyWorld } from "@sluice/simulator/faults/FaultyWorld"
import { LogFloods } from "@sluice/simulator/faults/LogFloods"
import { FaultDraw } from "@sluice/simulator/faults/FaultDraw"
import type { Scenario } from "../scenario/Scenario.ts"
import { worldOf } from "../scenario/WorldOf.ts"
import type { Surroundings, Worlds } from "../server/SimulatedServer.ts"
import * as QuietStudio from "../world/QuietStudio.ts"
import * as Work from "../world/Work.ts"

export interface Given {
  readonly driver: Driver
  readonly history: History
  readonly database: SharedDatabase
  readonly scenario: Scenario
  readonly noise: Chance
  readonly struck: (strike: AppliedFault) => void
  readonly planted: Planted | undefined
}

/** A bug that is put in by hand, in statements or in a provider. */
export interface Planted {
  readonly rewrite?: Rewrite
  readonly machines?: (inner: MachineProviderService) => MachineProviderService
  readonly models?: (inner: ModelProviderService) => ModelProviderService
  /** Before the run, on the empty database: what else would catch the bug is taken away. */
  readonly before?: string
  /** Afterwards, on the empty database. */
  readonly after?: string
}

export interface World extends Surroundings {
  readonly statements: () => number
  readonly floods: LogFloods
}

export const surroundings = (given: Given): World => {
  const { database, driver, history, noise, planted, scenario, struck } = given
  const plant = planted?.machines ?? ((inner: MachineProviderService) => inner)
  const plantModels = planted?.models ?? ((inner: ModelProviderService) => inner)
  const world = worldOf(scenario)
  const names = new Map<string, string>()
  const faultDraw = new FaultDraw({
    chance: noise,
    rates: scenario.faults,
    report: struck,
    now: () => driver.now,
    nameOf: (key) => names.get(key)
  })
  const faulty = new FaultyWorld()
  const subjectOf = (run: { readonly command: string }) => Work.nameOf(run.command)
  const floods = new LogFloods({ chance: noise, rates: scenario.faults, faultDraw, subjectOf })
  let statements = 0

  const shell = Layer.effect(
    Shell,
    Effect.map(Shell, (inner) => floods.shell(inner))
  ).pipe(Layer.provide(Work.layer))
  const machines = (process: Process) =>
    Layer.effect(
      MachineProvider,
      Effect.map(MachineProvider, (inner) =>
        seen(plant(faultyMachines(inner, faultDraw, { world: faulty })), process, names, history)
      )
    ).pipe(
      Layer.provide(SimulatedMachines.layer(world)),
      Layer.provide(shell),
      // The world's own time: it does not jump when a server's clock does.
      Layer.provide(Layer.succeed(Clock.Clock, process.trueClock))
    )
  const models = (process: Process) =>
    Layer.effect(
      ModelProvider,
      Effect.map(ModelProvider, (inner) =>
        named(
          faultyModels(
            plantModels(quiet(inner)),
            faultDraw,
            // A question begins with the name of its item.
            { subjectOf: (text) => text.split(" ", 1)[0], filmOf: (key) => names.get(key) }
          ),
          process,
          names
        )
      )
    ).pipe(
      Layer.provide(SimulatedModels.layer(defaultModels(scenario.seed))),
      Layer.provide(QuietStudio.studio),
      Layer.provideMerge(Layer.mergeAll(tokens, QuietStudio.probe))
    )
  return {
    driver,
    history,
    database,
    scale: scenario.pollSeconds,
    worlds: (process): Worlds => Layer.mergeAll(machines(process), models(process)),
    gate: (process) => {
      const faults = new DatabaseFaults({ faultDraw, latencyMs: scenario.databaseMs })
      const gate = faultyGate(driver, process, faults, () => statements++)
      const rewrite = planted?.rewrite
      return rewrite === undefined ? gate : (wire, batch, pass) => gate(wire, rewrite.batch(batch), pass)
    },
    statements: () => statements,
    floods
  }
}

/** The world's calls on the world's clock, its doings in the history, its machines by stable names. */
const seen = (
  inner: MachineProviderService,
  process: Process,
  names: Map<string, string>,
  history: History
): MachineProviderService => {
  const onTrueTime = Effect.provideService(Clock.Clock, process.trueClock)
  const nameOf = (key: string) => names.get(key) ?? key
  const said = (what: string) => history.record(`${process.name} ${what}`)
  return {
    ...inner,
    launch: (spec) =>
      Effect.suspend(() => {
        const name = spec.env.get("SERVICE_JOB_NAME")
        if (name !== undefined && !names.has(spec.key)) names.set(spec.key, Redacted.value(name))
        return onTrueTime(inner.launch(spec))
      }).pipe(
        Effect.tap((observation) => Effect.sync(() => said(`launch ${nameOf(spec.key)}: ${observation.state._tag}`))),
        Effect.tapError((error) => Effect.sync(() => said(`launch ${nameOf(spec.key)}: ${error._tag}`)))
      ),
    observe: (key) => onTrueTime(inner.observe(key)),
    read: (key, from, maxBytes) => onTrueTime(inner.read(key, from, maxBytes)),
    stop: (key) =>
      onTrueTime(inner.stop(key)).pipe(
        Effect.tap(() => Effect.sync(() => said(`stop ${nameOf(key)}`))),
        Effect.tapError(() => Effect.sync(() => said(`stop ${nameOf(key)}: no answer`)))
      ),
    list: onTrueTime(inner.list),
    gpuTypes: onTrueTime(inner.gpuTypes),
    release: (key) => onTrueTime(inner.release(key)),
    deleteVolume: (volumeId) =>
      onTrueTime(inner.deleteVolume(volumeId)).pipe(
        Effect.tap(() => Effect.sync(() => said(`delete volume ${volumeId}`))),
        Effect.tapError(() => Effect.sync(() => said(`delete volume ${volumeId}: no answer`)))
      )
  }
}

/** Nothing is compressed in real time. */
const quiet = (inner: ModelProviderService): ModelProviderService =>
  inner.images === undefined ? inner : { ...inner, images: QuietStudio.pictures(inner.images) }

/** Films by the names of their items, on the clock of the world: a camera does not jump with a server's clock. */
const named = (inner: ModelProviderService, process: Process, names: Map<string, string>): ModelProviderService => {
  const { videos } = inner
  if (videos === undefined) return inner
  const onTrueTime = Effect.provideService(Clock.Clock, process.trueClock)
  const submit: VideoProvider["submit"] = (model, task) =>
    Effect.suspend(() => {
      const name = task.prompt.split(" ", 1)[0]!
      names.set(task.id, name)
      return Effect.tap(onTrueTime(videos.submit(model, task)), (reference) =>
        Effect.sync(() => void names.set(reference, name))
      )
    })
  return {
    ...inner,
    videos: { ...videos, submit, look: (model, reference) => onTrueTime(videos.look(model, reference)) }
  }
}

/** All counts at once, however long the text: a thread's time is none of the world's. */
const tokens = Layer.sync(Tokens, () => {
  const { count, fit } = makeTokenizer()
  return Tokens.by(count, fit)
})
