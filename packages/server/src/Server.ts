/**
 * Builds the whole server from a configuration: database, clock and world. Only this module knows both sides of the
 * ports. Layers start in the order of their dependencies: catalog, database, clock, seal, world, services, first start,
 * socket, and last the routes and the background loops. The stop runs in the reverse order.
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Replica } from "@sluice/domain/database/Replica"
import { storeWritesLayer } from "@sluice/domain/database/StoreWrites"
import type { ModelProvider } from "@sluice/domain/models/ModelProvider"
import type { Tokens } from "@sluice/domain/models/Tokens"
import { RateLimits } from "@sluice/domain/limits/RateLimits"
import * as Reconcilers from "@sluice/domain/Reconcilers"
import * as CatalogSource from "@sluice/providers/openai-compatible/catalog/CatalogSource"
import { type FaultRates, noFaults } from "@sluice/simulator/faults/Fault"
import { defaultWorld as defaultModels, type ModelWorld } from "@sluice/simulator/models/ModelWorld"
import * as SimulatedModels from "@sluice/simulator/models/SimulatedModels"
import type { Studio } from "@sluice/simulator/models/Studio"
import type { Shell } from "@sluice/machine-shell/Shell"
import * as SimulatedMachines from "@sluice/simulator/world/SimulatedMachines"
import { defaultWorld, type World } from "@sluice/simulator/world/World"
import { worldTables } from "@sluice/simulator/world/WorldMigrations"
import { Effect, Layer, References } from "effect"
import { application } from "./Application.ts"
import { worldClock } from "./clock/WorldClock.ts"
import type { ServerConfig } from "./Config.ts"
import * as PooledCrypto from "./crypto/PooledCrypto.ts"
import type { DatabaseClients } from "./database/Database.ts"
import { openEmbedded, postgres } from "./database/Database.ts"
import type { DatabaseFailure } from "./database/DatabaseErrors.ts"
import { MasterKeys } from "./database/MasterKey.ts"
import { nodeSeal } from "./database/NodeSeal.ts"
import * as FetchedImages from "./fetch/FetchedImages.ts"
import { SafeFetch } from "./fetch/SafeFetch.ts"
import { FirstStart } from "./FirstStart.ts"
import { hostRule, isLoopback, machineAddresses } from "./http/Hosts.ts"
import { nodeServer } from "./http/NodeServer.ts"
import { allRoutes, serveRoutes } from "./http/Routes.ts"
import * as ServerMetrics from "./metrics/ServerMetrics.ts"
import * as RedisRateLimits from "./limits/RedisRateLimits.ts"
import { faultyPorts } from "./world/FaultyPorts.ts"
import { readScenario, type ScenarioInvalid } from "./world/ScenarioSource.ts"
import * as ShellWorkers from "./world/ShellWorkers.ts"
import * as StudioWorkers from "./world/StudioWorkers.ts"
import * as NodeSoundProbe from "./media/NodeSoundProbe.ts"
import * as NodeTokens from "./tokens/NodeTokens.ts"

/** The worlds behind the ports. */
export interface Worlds {
  readonly machines: World
  readonly models: ModelWorld
  /** Runs the commands of simulated machines. */
  readonly shell: Layer.Layer<Shell>
  /** Renders simulated sound and video. */
  readonly studio: Layer.Layer<Studio>
  /** Rates at which calls to machines and models fail. */
  readonly faults: FaultRates
}

/** Returns the default worlds of a seed. */
export const defaultWorlds = (seed: number): Worlds => ({
  machines: { ...defaultWorld, seed },
  models: defaultModels(seed),
  shell: ShellWorkers.layer,
  studio: StudioWorkers.layer,
  faults: noFaults
})

/** Returns the worlds of a configuration. Fails where the scenario is invalid. */
export const worldsOf = ({ models, scenario, seed }: ServerConfig): Effect.Effect<Worlds, ScenarioInvalid> =>
  scenario === undefined
    ? Effect.succeed(defaultWorlds(seed))
    : Effect.map(readScenario(scenario, seed, models !== undefined), (read) => ({ ...defaultWorlds(seed), ...read }))

/**
 * Builds and runs the server until its scope closes. `services`: replaced by test suites that stand between the
 * services and their ports.
 */
export const server = (
  config: ServerConfig,
  worlds: Worlds = defaultWorlds(config.seed),
  services: typeof application = application
) => {
  const { data, speed } = config
  const database: Layer.Layer<DatabaseClients, DatabaseFailure> =
    config.databaseUrl === undefined ? openEmbedded(data, worldTables) : postgres({ url: config.databaseUrl, speed })
  const seal = nodeSeal.pipe(Layer.provide(MasterKeys.layer({ given: config.masterKey, directory: data })))
  const faulty = faultyPorts(config.seed, worlds.faults)
  const machines = faulty.machines(
    SimulatedMachines.layer(worlds.machines).pipe(Layer.provide(faulty.shell(worlds.shell)))
  )
  const { catalog, models } = modelsOf(config, worlds)
  const rateLimits = config.redisUrl === undefined ? RateLimits.layer : RedisRateLimits.layer(config.redisUrl)

  const isOurHost = hostRule(config.allowedHosts, isLoopback(config.host) ? undefined : machineAddresses)
  return Layer.mergeAll(serveRoutes(isOurHost, config.metricsToken), Reconcilers.layer).pipe(
    Layer.provideMerge(nodeServer({ host: config.host, port: config.port, isOurHost, routes: allRoutes })),
    Layer.provideMerge(
      FirstStart.layer({ bootstrapKey: config.bootstrapKey, hasPlayMoney: config.machines === "simulator" })
    ),
    Layer.provideMerge(services),
    Layer.provideMerge(imagesByLink(config)),
    Layer.provideMerge(rateLimits),
    Layer.provideMerge(Replica.layer({ speed })),
    Layer.provideMerge(PooledCrypto.layer),
    Layer.provideMerge(
      Layer.mergeAll(
        machines,
        faulty.models(models).pipe(Layer.provideMerge(Layer.mergeAll(NodeTokens.layer, NodeSoundProbe.layer)))
      )
    ),
    Layer.provideMerge(seal),
    Layer.provideMerge(worldClock(speed)),
    Layer.provideMerge(Layer.mergeAll(database, NodeTokens.loaded)),
    Layer.provideMerge(catalog),
    Layer.provideMerge(Layer.mergeAll(ServerMetrics.layer, storeWritesLayer)),
    // Nothing exports traces, so spans would be created for nothing.
    Layer.provideMerge(Layer.succeed(References.TracerEnabled, false))
  )
}

/** Without permission for links the port keeps its default, which refuses them. */
const imagesByLink = ({ hasImageUrls, hasPrivateTargets }: ServerConfig) =>
  hasImageUrls ? FetchedImages.layer.pipe(Layer.provide(SafeFetch.layer({ hasPrivateTargets }))) : Layer.empty

/**
 * Returns the models and their catalog. The catalog is read before anything is opened, so that a mistake in it stops
 * the start early.
 */
const modelsOf = (
  { models: file }: ServerConfig,
  worlds: Worlds
): {
  readonly catalog: Layer.Layer<never, CatalogSource.CatalogInvalid>
  readonly models: Layer.Layer<ModelProvider, CatalogSource.CatalogInvalid, Tokens>
} => {
  if (file === undefined)
    return { catalog: Layer.empty, models: SimulatedModels.layer(worlds.models).pipe(Layer.provide(worlds.studio)) }
  const catalog = CatalogSource.layer(file).pipe(Layer.provide(NodeFileSystem.layer))
  // Its HTTP client takes 0.2 s to load, so it is loaded only when needed.
  const real = Effect.promise(() => import("@sluice/providers/openai-compatible/OpenAiModels"))
  const models = Layer.unwrap(Effect.map(real, (OpenAiModels) => OpenAiModels.layer()))
  return {
    catalog: Layer.effectDiscard(Effect.void).pipe(Layer.provide(catalog)),
    models: models.pipe(Layer.provide(PooledCrypto.layer), Layer.provide(catalog))
  }
}
