/** The server of a test double: the production services, routes and socket over a database in memory and the faulty world. */
import { Replica } from "@sluice/domain/database/Replica"
import { ModelProvider, type ModelProviderService } from "@sluice/domain/models/ModelProvider"
import { exitIfSettled } from "@sluice/domain/runtime/SyncFastPath"
import { SoundProbe } from "@sluice/domain/inference/audio/SoundProbe"
import { Tokens } from "@sluice/domain/models/Tokens"
import { RateLimits } from "@sluice/domain/limits/RateLimits"
import { MachineProvider } from "@sluice/domain/machines/MachineProvider"
import * as Reconcilers from "@sluice/domain/Reconcilers"
import { application } from "@sluice/server/Application"
import * as PooledCrypto from "@sluice/server/crypto/PooledCrypto"
import { FirstStart } from "@sluice/server/FirstStart"
import { hostRule } from "@sluice/server/http/Hosts"
import { nodeServer } from "@sluice/server/http/NodeServer"
import { allRoutes, serveRoutes } from "@sluice/server/http/Routes"
import * as ServerMetrics from "@sluice/server/metrics/ServerMetrics"
import * as NodeSoundProbe from "@sluice/server/media/NodeSoundProbe"
import * as ShellWorkers from "@sluice/server/world/ShellWorkers"
import * as StudioWorkers from "@sluice/server/world/StudioWorkers"
import * as NodeTokens from "@sluice/server/tokens/NodeTokens"
import { defaultWorld as defaultModels } from "@sluice/simulator/models/ModelWorld"
import { Studio } from "@sluice/simulator/models/Studio"
import * as SimulatedModels from "@sluice/simulator/models/SimulatedModels"
import type { Programs } from "@sluice/machine-shell/Programs"
import { Shell } from "@sluice/machine-shell/Shell"
import * as SimulatedMachines from "@sluice/simulator/world/SimulatedMachines"
import { defaultWorld } from "@sluice/simulator/world/World"
import { Crypto, Effect, Layer, Logger, Redacted, References } from "effect"
import * as HttpServer from "effect/http/HttpServer"
import { faultyGate } from "@sluice/simulation/database/FaultyWire"
import { open } from "@sluice/simulation/database/SharedDatabase"
import type { Process } from "@sluice/simulation/driver/Process"
import { DatabaseFaults } from "@sluice/simulation/faults/DatabaseFaults"
import { type WorldFaults, worldFaults } from "@sluice/simulator/faults/WorldFaults"
import { seal } from "@sluice/simulation/server/SimulatedServer"
import { refusal } from "./DoubleOptions.ts"
import type { OrderedFaults } from "./Faults.ts"
import type { LiveDriver } from "./LiveDriver.ts"

export interface Given {
  readonly driver: LiveDriver
  readonly process: Process
  readonly virtual: boolean
  readonly latency: boolean
  readonly port: number
  readonly programs: Programs
  readonly seed: number
  readonly faults: OrderedFaults
}

/** The same in each double: it opens nothing but doubles. */
export const KEY = "svc_live_thekeyofeverytestdouble0000000000"

/** On a virtual clock looks cost time of the test: what happens wakes the service by itself. */
const LOOK_MS = 60_000

/** Runs until its scope closes; answers where it listens. */
export const doubleServer = Effect.fnUntraced(function* (given: Given) {
  const { driver, faults, port, process, seed, virtual } = given
  const database = yield* Effect.acquireRelease(open, (database) => database.close)
  const gate = faultyGate(
    driver,
    process,
    new DatabaseFaults({ faultDraw: faults.faultDraw, latencyMs: [0, 0] }),
    () => {}
  )
  const struck = worldFaults(seed, faults.rates, faults.faultDraw)
  const crypto = virtual ? Layer.succeed(Crypto.Crypto, process.crypto) : PooledCrypto.layer
  const layer = Layer.mergeAll(serveRoutes(hostRule([])), Reconcilers.layer).pipe(
    Layer.provideMerge(
      nodeServer({ host: "127.0.0.1", port, isOurHost: hostRule([]), routes: allRoutes, onRequest: driver.heard })
    ),
    Layer.provideMerge(FirstStart.layer({ bootstrapKey: Redacted.make(KEY), hasPlayMoney: true })),
    Layer.provideMerge(application),
    Layer.provideMerge(RateLimits.layer),
    Layer.provideMerge(Replica.layer({ speed: 1, ...(virtual ? { lookMs: LOOK_MS } : {}) })),
    Layer.provideMerge(crypto),
    Layer.provideMerge(Layer.mergeAll(machinesOf(given, struck), modelsOf(given, struck))),
    Layer.provideMerge(seal),
    Layer.provideMerge(database.clients(process, gate)),
    Layer.provideMerge(ServerMetrics.layer),
    Layer.provideMerge(Layer.succeed(References.TracerEnabled, false)),
    // What it would log are the faults that the test ordered.
    Layer.provideMerge(Logger.layer([]))
  )
  const context = yield* Effect.catchTag(Layer.build(layer), "ServeError", ({ cause }) => {
    const reason = cause instanceof Error ? cause.message : "it is not available"
    return Effect.fail(
      refusal("startSluice", `port ${port} can't be listened on (${reason}): leave it out for any that is free`)
    )
  })
  process.serving = true
  const { address } = yield* Effect.provideContext(HttpServer.HttpServer, context)
  return `http://127.0.0.1:${"port" in address ? address.port : port}`
})

const machinesOf = ({ driver, programs, seed }: Given, struck: WorldFaults) => {
  const shell = Layer.effect(
    Shell,
    Effect.map(Shell, (inner) => struck.shell({ run: (run) => driver.during(inner.run(run)) }))
  ).pipe(Layer.provide(ShellWorkers.layer))
  return Layer.effect(MachineProvider, Effect.map(MachineProvider, struck.machines)).pipe(
    Layer.provide(SimulatedMachines.layer({ ...defaultWorld, seed, programs })),
    Layer.provide(shell)
  )
}

const modelsOf = ({ driver, latency, seed, virtual }: Given, struck: WorldFaults) => {
  const world = { ...defaultModels(seed), latency: latency ? ("paced" as const) : ("none" as const) }
  // Who waits for an answer waits for the world's time to bring it.
  const awaited = <A, E>(answer: Effect.Effect<A, E>) =>
    Effect.acquireUseRelease(
      Effect.sync(() => driver.awaiting()),
      () => answer,
      (ended) => Effect.sync(ended)
    )
  const timed = (inner: ModelProviderService): ModelProviderService => {
    const { embeddings, images, speech, transcription, videos } = inner
    return {
      ...inner,
      chat: (model, request, hear) => awaited(inner.chat(model, request, hear)),
      ...(embeddings === undefined
        ? {}
        : { embeddings: { ...embeddings, embed: (...asked) => awaited(embeddings.embed(...asked)) } }),
      ...(images === undefined ? {} : { images: { ...images, generate: (m, r) => awaited(images.generate(m, r)) } }),
      ...(speech === undefined ? {} : { speech: { ...speech, speak: (m, t) => awaited(speech.speak(m, t)) } }),
      ...(transcription === undefined
        ? {}
        : { transcription: { ...transcription, transcribe: (m, t) => awaited(transcription.transcribe(m, t)) } }),
      ...(videos === undefined ? {} : { videos: { ...videos, read: (...asked) => awaited(videos.read(...asked)) } })
    }
  }
  const studio = Layer.effect(
    Studio,
    Effect.map(Studio, (inner) => ({
      render: (task) => driver.during(inner.render(task)),
      wordsOf: (path) => driver.during(inner.wordsOf(path))
    }))
  ).pipe(Layer.provide(StudioWorkers.layer))
  const probe = Layer.effect(
    SoundProbe,
    Effect.map(SoundProbe, (inner) => ({ durationMs: (path) => driver.during(inner.durationMs(path)) }))
  ).pipe(Layer.provide(NodeSoundProbe.layer))
  // The first count loads the tokenizer, and long texts go to its thread: neither takes time of the world.
  const tokens = Layer.effect(
    Tokens,
    Effect.map(Tokens, (inner) => {
      const counted = <A, E>(asked: Effect.Effect<A, E>) =>
        exitIfSettled(asked) === undefined ? driver.during(asked) : asked
      return {
        count: (...asked) => counted(inner.count(...asked)),
        countEach: (...asked) => counted(inner.countEach(...asked)),
        countOutput: (...asked) => counted(inner.countOutput(...asked)),
        fit: (...asked) => counted(inner.fit(...asked))
      }
    })
  ).pipe(Layer.provide(NodeTokens.layer))
  return Layer.effect(
    ModelProvider,
    Effect.map(ModelProvider, (inner) => {
      const models = struck.models(inner)
      return virtual ? timed(models) : models
    })
  ).pipe(
    Layer.provide(SimulatedModels.layer(world, (work) => driver.during(work))),
    Layer.provide(studio),
    Layer.provideMerge(Layer.mergeAll(tokens, probe))
  )
}
