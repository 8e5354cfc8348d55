/**
 * The whole server from a configuration: which database, which clock, which world. The one place that knows both sides of
 * the ports. The order of starting is the order of needing: database, clock, seal, world, services, first start, socket,
 * and only then routes and the loops in the background; stopping goes the other way round.
 */
import { MeteringReconciler } from "@sluice/domain/inference/MeteringReconciler"
import * as Reconcilers from "@sluice/domain/Reconcilers"
import { defaultWorld as defaultModels } from "@sluice/simulator/models/ModelWorld"
import * as SimulatedModels from "@sluice/simulator/models/SimulatedModels"
import * as SimulatedMachines from "@sluice/simulator/world/SimulatedMachines"
import { defaultWorld } from "@sluice/simulator/world/World"
import { Layer } from "effect"
import { application } from "./Application.ts"
import { worldClock } from "./clock/WorldClock.ts"
import type { ServerConfig } from "./Config.ts"
import type { DatabaseClients } from "./database/Database.ts"
import { embedded, postgres } from "./database/Database.ts"
import type {
  DatabaseUnreachable,
  DataDirectoryBroken,
  DataDirectoryInUse,
  MigrationFailed
} from "./database/DatabaseErrors.ts"
import { MasterKeys } from "./database/MasterKey.ts"
import { nodeSeal } from "./database/NodeSeal.ts"
import { FirstStart } from "./FirstStart.ts"
import { hostRule } from "./http/Hosts.ts"
import { nodeServer } from "./http/NodeServer.ts"
import { serveRoutes } from "./http/Routes.ts"
import * as ShellWorkers from "./simulation/ShellWorkers.ts"
import * as NodeTokens from "./tokens/NodeTokens.ts"

type DatabaseFailure = DatabaseUnreachable | DataDirectoryBroken | DataDirectoryInUse | MigrationFailed

/** Everything, running, until its scope closes. */
export const server = (config: ServerConfig) => {
  const { data, seed, speed } = config
  const database: Layer.Layer<DatabaseClients, DatabaseFailure> =
    config.databaseUrl === undefined ? embedded(data) : postgres({ url: config.databaseUrl, speed })
  const seal = nodeSeal.pipe(Layer.provide(MasterKeys.layer({ given: config.masterKey, directory: data })))
  const machines = SimulatedMachines.layer({ ...defaultWorld, seed }).pipe(Layer.provide(ShellWorkers.layer))
  const models = SimulatedModels.layer(defaultModels(seed)).pipe(Layer.provideMerge(NodeTokens.layer))
  const background = Layer.mergeAll(Reconcilers.layer, MeteringReconciler.loop)

  return Layer.mergeAll(serveRoutes(hostRule(config.allowedHosts)), background).pipe(
    Layer.provideMerge(nodeServer(config)),
    Layer.provideMerge(FirstStart.layer({ bootstrapKey: config.bootstrapKey, playMoney: true })),
    Layer.provideMerge(application({ speed })),
    Layer.provideMerge(Layer.mergeAll(machines, models)),
    Layer.provideMerge(seal),
    Layer.provideMerge(worldClock(speed)),
    Layer.provideMerge(database)
  )
}
