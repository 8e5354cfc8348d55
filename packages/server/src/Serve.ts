/**
 * Starts the server, reports that it is up, and runs until it is interrupted. The stop refuses new requests, drains
 * running ones, and closes the socket and the database, all within 10 s. Jobs continue without the server.
 */
import { Inference } from "@sluice/domain/inference/chat/Inference"
import { MachineProvider } from "@sluice/domain/machines/MachineProvider"
import { Context, Duration, Effect, Layer, Schema } from "effect"
import * as HttpServer from "effect/http/HttpServer"
import type { ServerConfig } from "./Config.ts"
import { addressOf } from "./database/DatabaseAddress.ts"
import { DatabaseLoss } from "./database/DatabaseLoss.ts"
import { failWithRefusal } from "./database/DatabaseRefusal.ts"
import { FirstStart } from "./FirstStart.ts"
import { server, worldsOf } from "./Server.ts"
import type { Welcome } from "./Welcome.ts"

/** The address is in use, or the server can't listen on it. */
export class CannotListen extends Schema.TaggedError<CannotListen>()("CannotListen", {
  host: Schema.String,
  port: Schema.Int,
  reason: Schema.String
}) {
  override get message(): string {
    return `Can't listen on ${this.host}:${this.port}: ${this.reason}. ${this.advice}`
  }

  private get advice(): string {
    if (/EADDRINUSE|EACCES/.test(this.reason)) return "Choose another port with --port."
    return /EMFILE|ENFILE/.test(this.reason)
      ? "Raise the limit of open files (ulimit -n 1024)."
      : "Choose an address of this machine with --host."
  }
}

/**
 * Never returns. `onUp` runs once, when the server answers requests. Fails with errors whose `message` says what to do,
 * also when the database is lost.
 */
export const serve = <E, R>(config: ServerConfig, onUp: (welcome: Welcome) => Effect.Effect<void, E, R>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const context = yield* start(config)
      yield* Effect.provideContext(Effect.flatMap(welcomeOf(config), onUp), context)
      return yield* Context.get(context, DatabaseLoss)
    })
  )

const start = (config: ServerConfig) =>
  Effect.flatMap(worldsOf(config), (worlds) => Layer.build(server(config, worlds))).pipe(
    Effect.catchTag("ServeError", ({ cause }) => {
      const reason = cause instanceof Error ? cause.message : "the address is not available"
      return Effect.fail(new CannotListen({ host: config.host, port: config.port, reason }))
    }),
    failWithRefusal
  )

const welcomeOf = Effect.fnUntraced(function* (config: ServerConfig) {
  const { address } = yield* HttpServer.HttpServer
  const { workspace, key } = yield* FirstStart
  const { models } = yield* Inference
  const provider = yield* MachineProvider
  const types = yield* provider.gpuTypes.pipe(
    Effect.timeout(Duration.seconds(1)),
    Effect.orElseSucceed(() => [])
  )
  const port = "port" in address ? address.port : config.port
  const host = config.host === "0.0.0.0" || config.host === "::" ? "127.0.0.1" : config.host
  const welcome: Welcome = {
    origin: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
    machines: provider.name,
    speed: config.speed,
    isEmbedded: config.databaseUrl === undefined,
    store: config.databaseUrl === undefined ? config.data : addressOf(config.databaseUrl),
    workspace,
    key,
    model: models[0]?.id ?? "MODEL",
    gpuType: types[0]?.id ?? "GPU"
  }
  return welcome
})
