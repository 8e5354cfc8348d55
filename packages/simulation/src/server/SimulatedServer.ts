/**
 * One start of the real server inside a run: the production services, stores, reconcilers and ledger over the shared
 * database and the faulty world, without sockets. Requests are effects that run on its fibers; when it is killed they are
 * never answered, and whoever asked learns that the connection is lost.
 */
import { Replica } from "@sluice/domain/database/Replica"
import * as Reconcilers from "@sluice/domain/Reconcilers"
import type { MachineProvider } from "@sluice/domain/machines/MachineProvider"
import type { ModelProvider } from "@sluice/domain/models/ModelProvider"
import type { SoundProbe } from "@sluice/domain/inference/audio/SoundProbe"
import type { Tokens } from "@sluice/domain/models/Tokens"
import { application } from "@sluice/server/Application"
import type { Gate } from "@sluice/server/database/PgliteWire"
import { MasterKeys } from "@sluice/server/database/MasterKey"
import { nodeSeal } from "@sluice/server/database/NodeSeal"
import type { Seal } from "@sluice/domain/database/Seal"
import { Cause, Context, Crypto, Effect, Exit, Layer, Logger, Redacted, References, Schema, type Scope } from "effect"
import type { SqlClient } from "effect/sql"
import type { PgClient } from "@effect/sql-pg"
import type { BatchSql, RelaxedSql } from "@sluice/domain/database/Clients"
import type { SharedDatabase } from "../database/SharedDatabase.ts"
import type { Driver } from "../driver/Driver.ts"
import type { History } from "../driver/History.ts"
import type { Process } from "../driver/Process.ts"

/** The server died before it answered: what was asked may or may not have happened. */
export class ConnectionLost extends Schema.TaggedError<ConnectionLost>()("ConnectionLost", {}) {}

type Database = PgClient.PgClient | SqlClient.SqlClient | BatchSql | RelaxedSql
/** What stands behind the ports of one process. */
export type Worlds = Layer.Layer<MachineProvider | ModelProvider | SoundProbe | Tokens, never, Database | Seal>

export interface Surroundings {
  readonly driver: Driver
  readonly history: History
  readonly database: SharedDatabase
  readonly worlds: (process: Process) => Worlds
  readonly gate: (process: Process) => Gate
  /** The replicas' (domain, Replica.ts). */
  readonly scale: number
}

const MASTER_KEY = Redacted.make(Buffer.alloc(32, 7).toString("base64"))
/** Secrets are sealed with a key that everybody knows: there are none in a simulation. */
export const seal = nodeSeal.pipe(Layer.provide(MasterKeys.layer({ given: MASTER_KEY, directory: "unused" })))

const layerOf = (around: Surroundings, process: Process) =>
  Reconcilers.layer.pipe(
    Layer.provideMerge(application),
    Layer.provideMerge(Replica.layer({ speed: 1, scale: around.scale })),
    Layer.provideMerge(Layer.succeed(Crypto.Crypto, process.crypto)),
    Layer.provideMerge(around.worlds(process)),
    Layer.provideMerge(seal),
    Layer.provideMerge(around.database.clients(process, around.gate(process))),
    Layer.provideMerge(Layer.succeed(References.TracerEnabled, false)),
    Layer.provideMerge(Logger.layer([notesOf(around.history, process)]))
  )

/** What a request may use. */
export type Services = Layer.Success<ReturnType<typeof layerOf>>

export class SimulatedServer {
  readonly process: Process
  readonly driver: Driver
  private services: Context.Context<Services> | undefined
  private stop: (() => void) | undefined

  constructor(around: Surroundings, process: Process) {
    this.process = process
    this.driver = around.driver
    const booted = Effect.scoped(
      Effect.flatMap(Layer.build(layerOf(around, process)), (context) =>
        Effect.andThen(
          Effect.sync(() => {
            this.services = Context.merge(process.context, context)
            process.serving = true
          }),
          Effect.never
        )
      )
    )
    const fiber = Effect.runForkWith(process.context)(booted)
    this.stop = () => fiber.interruptUnsafe()
    fiber.addObserver((exit) => {
      this.services = undefined
      // A start that fails (the database refused it) is a process that ended.
      if (Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause)) {
        around.history.note(`${process.name}: ended: ${Cause.pretty(exit.cause)}`)
        process.kill()
      }
    })
  }

  get ready(): boolean {
    return this.services !== undefined && !this.process.dead
  }

  /** Ends in good order: what is in flight is finished, finalizers run. */
  close(): void {
    this.services = undefined
    this.stop?.()
  }

  /** Interrupting it interrupts the request. */
  request<A, E>(effect: Effect.Effect<A, E, Services | Scope.Scope>): Effect.Effect<A, E | ConnectionLost> {
    return Effect.callback<A, E | ConnectionLost>((resume) => {
      const { driver, process, services } = this
      if (services === undefined || process.dead) return resume(Effect.fail(new ConnectionLost()))
      const answer = (exit: Exit.Exit<A, E | ConnectionLost>) => driver.enqueue(() => resume(exit))
      const forget = process.whenKilled(() => answer(Exit.fail(new ConnectionLost())))
      const fiber = Effect.runForkWith(services)(Effect.scoped(effect))
      fiber.addObserver((exit) => {
        forget()
        answer(exit)
      })
      return Effect.sync(() => fiber.interruptUnsafe())
    })
  }
}

const notesOf = (history: History, process: Process) =>
  Logger.make(({ cause, logLevel, message }) => {
    if (logLevel === "Debug" || logLevel === "Trace") return
    const words = Array.isArray(message) ? message.map(String).join(" ") : String(message)
    const reason = cause.reasons.length === 0 ? "" : `: ${Cause.pretty(cause).split("\n", 3).join(" ")}`
    history.note(`${process.name} ${logLevel}: ${words}${reason}`)
  })
