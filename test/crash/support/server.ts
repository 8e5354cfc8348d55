/**
 * A server that dies at one of its crash points. It says each point that it comes to, once, on its standard output.
 * Flags as those of `sluice serve`. CRASH_AT: where to die. CRASH_TWICE: does twice all that must be repeatable.
 */
import { NodeServices } from "@effect/platform-node"
import { fromVariables, parse, type Settings } from "@sluice/server/Config"
import { defaultWorlds, server } from "@sluice/server/Server"
import { Effect, Layer, Result } from "effect"
import { writeSync } from "node:fs"
import { flushCompileCache } from "node:module"
import { parseArgs } from "node:util"
import { watchPoints } from "./Points.ts"

const text = { type: "string" } as const
const flags: Settings = parseArgs({
  allowPositionals: true,
  options: { port: text, data: text, speed: text }
}).values
/** A killed process does not write its compile cache, and these servers are killed a hundred times. */
setTimeout(flushCompileCache, 5_000).unref()

const config = Result.getOrThrow(parse({ ...fromVariables(process.env), ...flags }))
const seen = new Set<string>()

const services = watchPoints({
  hit: (point) => {
    // A pipe would lose what is still on its way when the process dies.
    if (!seen.has(point)) writeSync(1, `point ${point}\n`)
    seen.add(point)
    if (point === process.env["CRASH_AT"]) process.kill(process.pid, "SIGKILL")
  },
  twice: process.env["CRASH_TWICE"] === "1"
})

Effect.runFork(
  Layer.launch(server(config, defaultWorlds(config.seed), services)).pipe(
    Effect.provide(NodeServices.layer),
    Effect.tapCause((cause) => Effect.sync(() => process.stderr.write(`${cause}\n`)))
  )
)
