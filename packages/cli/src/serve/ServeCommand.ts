/**
 * `sluice serve`: the server's settings as flags over `SLUICE_*` variables, its welcome on standard output, its log on
 * standard error. Ctrl-C and SIGTERM stop it in order. The server's code is loaded here alone, and only now.
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

/** A database that does not answer must not hold up the end; nothing is lost by it (decisions: SIGTERM). */
const END_MS = 9_000

const text = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.optional, Flag.withMetavar(metavar), Flag.withDescription(description))

const allowing = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.map(String), Flag.optional, Flag.withDescription(description))

const flags = {
  host: text("host", "ADDRESS", "Where to listen; default 127.0.0.1"),
  port: text("port", "N", "Port; default 8080, 0 takes a free one"),
  data: text("data", "DIR", "Data directory; default ./data"),
  "database-url": text("database-url", "URL", "PostgreSQL instead of the embedded database"),
  "redis-url": text("redis-url", "URL", "Redis, for one rate limit across servers"),
  machines: text("machines", "KIND", "simulator (default)"),
  models: text("models", "FILE", "Catalog of models and the servers behind them; default the simulated one"),
  seed: text("seed", "N", "Seed of the simulated world"),
  scenario: text("scenario", "FILE", "Scenario of the simulated world: what there is, and what goes wrong"),
  speed: text("speed", "N", "Run the service's clock N times faster (simulator)"),
  "allowed-hosts": text("allowed-hosts", "NAMES", "Further names that a Host header may have, with commas"),
  "allow-remote": allowing("allow-remote", "Listen beyond this machine, with --host"),
  "allow-image-urls": allowing("allow-image-urls", "Fetch images that callers name by http(s) links"),
  "allow-private-targets": allowing("allow-private-targets", "Let such links lead to addresses that are not public")
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
      const told = { ...urls, workspace, key: key._tag === "Made" ? Redacted.value(key.key) : null }
      // What was compiled is kept now: a server that is killed has no end at which to do so.
      return Effect.andThen(
        out.answer(told, () => welcomeText(welcome).trimEnd()),
        Effect.sync(flushCompileCache)
      )
    })
    const interrupts = yield* Interrupts
    const signals = yield* interrupts.captured
    yield* Effect.raceFirst(
      Effect.mapError(serving, ({ message }) => new Stopped({ reason: message })),
      Queue.take(signals).pipe(Effect.andThen(interrupts.endWithin(END_MS)), Effect.andThen(out.say("Stopping ...")))
    ).pipe(
      Effect.provideService(Logger.LogToStderr, true),
      // What the parser prints is caught, a log is not: it would be kept until the server ends, and shown to nobody.
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
