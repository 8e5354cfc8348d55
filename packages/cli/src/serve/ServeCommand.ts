/**
 * Defines `sluice serve`: takes the server's settings as flags that override `SLUICE_*` variables, prints the welcome
 * on standard output and the log on standard error. Ctrl-C and SIGTERM stop the server gracefully. The server's code
 * loads only when this command runs.
 */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { flushCompileCache } from "node:module"
import { Variables } from "../connection/Connection.ts"
import { Stopped, UsageWrong } from "../connection/Failure.ts"
import { Interrupts } from "../terminal/Interrupts.ts"
import { Output } from "../terminal/Output.ts"

/**
 * Longest graceful stop. A database that does not answer must not block it for longer; an abrupt end loses no data
 * (decisions: SIGTERM).
 */
const END_MS = 9_000

const text = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.optional, Flag.withMetavar(metavar), Flag.withDescription(description))

const allowing = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.map(String), Flag.optional, Flag.withDescription(description))

const flags = {
  host: text("host", "ADDRESS", "Address to listen on; default 127.0.0.1"),
  port: text("port", "N", "Port; default 8080, 0 takes a free one"),
  data: text("data", "DIR", "Data directory; default ./data"),
  "database-url": text("database-url", "URL", "PostgreSQL instead of the embedded database"),
  "redis-url": text("redis-url", "URL", "Redis, for rate limits that several servers share"),
  machines: text("machines", "KIND", "simulator (default)"),
  models: text("models", "FILE", "Catalog file of models and their upstream servers; default simulated models"),
  seed: text("seed", "N", "Seed of the simulated world"),
  scenario: text("scenario", "FILE", "Scenario file of the simulated world: its machines, models and faults"),
  speed: text("speed", "N", "Run the service's clock N times faster; simulator only"),
  "allowed-hosts": text("allowed-hosts", "NAMES", "More names that a Host header may have, separated by commas"),
  "allow-remote": allowing("allow-remote", "Allow a --host that other machines can reach"),
  "allow-image-urls": allowing("allow-image-urls", "Fetch images from http(s) links in requests"),
  "allow-private-targets": allowing("allow-private-targets", "Allow image links to private addresses")
}

export const serveCommand = Command.make(
  "serve",
  flags,
  Effect.fnUntraced(function* (given) {
    const out = yield* Output
    const variables = yield* Variables
    const { fromVariables, parse } = yield* Effect.promise(() => import("@sluice/server/Config"))
    const fromFlags = Object.fromEntries(
      Object.entries(given).flatMap(([name, value]) => (Option.isNone(value) ? [] : [[name, value.value]]))
    )
    const config = yield* Effect.fromResult(parse({ ...fromVariables(variables), ...fromFlags })).pipe(
      Effect.mapError(({ issues }) => new UsageWrong({ issues }))
    )
    const { serve } = yield* Effect.promise(() => import("@sluice/server/Serve"))
    const { welcomeText } = yield* Effect.promise(() => import("@sluice/server/Welcome"))
    const serving = serve(config, (welcome) => {
      const { origin, key, workspace } = welcome
      const urls = { base_url: `${origin}/v1`, infra_url: `${origin}/api/v1` }
      const answer = { ...urls, workspace, key: key._tag === "Made" ? Redacted.value(key.key) : null }
      // Flush the compile cache now: a server that is killed cannot flush it at its end.
      return Effect.andThen(
        out.answer(answer, () => welcomeText(welcome).trimEnd()),
        Effect.sync(flushCompileCache)
      )
    })
    const interrupts = yield* Interrupts
    const signals = yield* interrupts.capture
    yield* Effect.raceFirst(
      Effect.mapError(serving, ({ message }) => new Stopped({ reason: message })),
      Queue.take(signals).pipe(
        Effect.andThen(interrupts.endWithin(END_MS)),
        Effect.andThen(out.say("Stopping the server ..."))
      )
    ).pipe(
      Effect.provideService(Logger.LogToStderr, true),
      // The log must bypass the console that keeps the parser's output: kept log lines would never be printed.
      Effect.provideService(Console.Console, Console.Console.defaultValue())
    )
  }, Effect.scoped)
).pipe(
  Command.withShortDescription("Start the server"),
  Command.withDescription(
    "Start the server: both surfaces, on one port. Each flag is also a variable (--database-url is\n" +
      "  SLUICE_DATABASE_URL). SLUICE_MASTER_KEY, SLUICE_BOOTSTRAP_KEY and SLUICE_METRICS_TOKEN are\n" +
      "  variables only: they are secrets."
  ),
  Command.withExamples([
    { command: "sluice serve" },
    { command: "sluice serve --port 9000 --data /var/lib/sluice" },
    { command: "sluice serve --speed 60 --seed 7", description: "An hour of the world in a minute" }
  ])
)
