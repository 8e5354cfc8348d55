/** Serves Sluice over simulated machines and models without latency and with unlimited capacity, so that only the service is measured. */
import { Billing } from "@sluice/domain/billing/Billing"
import { Workspaces } from "@sluice/domain/access/Workspaces"
import { parse } from "@sluice/server/Config"
import { defaultWorlds, server } from "@sluice/server/Server"
import { instant } from "@sluice/simulator/models/ModelWorld"
import { Shell } from "@sluice/machine-shell/Shell"
import { instantWorld } from "@sluice/simulator/world/World"
import { Effect, Layer, Result } from "effect"

const [port, url, key, data, fleet] = process.argv.slice(2)
const config = Result.getOrThrow(
  parse({
    port: port!,
    "database-url": url!,
    "bootstrap-key": key!,
    data: data!,
    "master-key": Buffer.alloc(32, 3).toString("base64")
  })
)

/** Credit for more jobs than any run submits. */
const rich = Layer.effectDiscard(
  Effect.gen(function* () {
    const billing = yield* Billing
    const workspaces = yield* Workspaces
    const { workspaceId } = yield* workspaces.bootstrap(undefined)
    yield* billing.credit(workspaceId, 1_000_000_000_000_000_000n, "bench")
  })
)

/** A command that exits at once: on a real machine it would not run in the server either. */
const shell = Layer.succeed(Shell, {
  run: ({ startedAt }) => Effect.succeed({ chunks: [], exit: { at: startedAt, code: 0 }, files: [], overran: false })
})
/** `full`: every GPU is taken. Jobs are accepted and wait. */
const taken = instantWorld.gpuTypes.map((type) => ({ ...type, capacity: { "us-east": 0 } }))
const machines = fleet === "full" ? { ...instantWorld, gpuTypes: taken } : instantWorld
const worlds = { ...defaultWorlds(1), machines, models: instant(1), shell }
Effect.runFork(Layer.launch(rich.pipe(Layer.provideMerge(server(config, worlds)))))

process.on("SIGTERM", () => process.exit(0))
